/**
 * Guesses of passwords and of codes, counted in the database for all processes: by source, by source and account, and by
 * account. From a source that the person has signed in from before, only the failures of this source for this account
 * count: an attacker elsewhere slows down sign-ins from unknown sources, and never locks the person out.
 */
import { sourceOf } from '#core/platform/addresses/source-address.ts';
import { loginsTotal } from '#core/platform/log/metrics.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { countUse, uncountUse } from '#db/queries/platform/count-use.ts';
import { SIGN_IN_SOURCE_KEPT_DAYS, SIGN_IN_TRIES, SIGN_IN_WINDOW_SECONDS } from '#domain/access/credential-format.ts';
import { limitingPairs } from '#domain/access/sign-in-limits.ts';
import { CatalogueError } from '#domain/errors.ts';

const DAY_MS = 86_400_000;

interface Guess {
  /** Failures of the two steps of a sign-in are counted apart. */
  readonly of: 'sign_in' | 'second_factor';
  /** Address of the account, in lower case; there may be none. */
  readonly account: string;
  readonly ipAddress: string;
}

/** A guess that was counted, and whose secret has not been compared yet. */
export interface CountedGuess {
  /** It was right, so it does not count. */
  passed(): Promise<void>;
  /** Writes the failure to the log. */
  failed(reply: string): void;
}

/**
 * Counts a guess before its secret is compared, so that concurrent ones cannot exceed the limit.
 *
 * @throws {CatalogueError} rate_limited
 */
export async function countGuess(services: Services, { of, account, ipAddress }: Guess): Promise<CountedGuess> {
  const { db, mailLog } = services;
  const refused = (reply: string) =>
    mailLog.refused({ mail: 'login', outcome: 'refused', listener: 'sign-in', client: ipAddress, account, reply });
  const source = sourceOf(ipAddress);
  const [{ known } = { known: false }] = await db.query<{ known: boolean }>(IS_KNOWN, [account, source]);
  const counters = [
    ...limitingPairs({ source, account, known }).map((pair) => `${of}:address:${pair}`),
    ...(known ? [] : [`${of}:account:${account}`]),
  ];
  for (const counter of counters) {
    const { used, resetsInMs } = await countUse(db, counter, SIGN_IN_WINDOW_SECONDS * 1_000, services.now());
    if (used > SIGN_IN_TRIES) {
      loginsTotal.inc({ protocol: 'web', outcome: 'throttled' });
      refused('too many failed sign-ins');
      throw new CatalogueError('rate_limited', 'Too many failed sign-ins.', {
        retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
      });
    }
  }
  return {
    async passed() {
      loginsTotal.inc({ protocol: 'web', outcome: 'passed' });
      for (const counter of counters) await uncountUse(db, counter);
    },
    failed(reply) {
      loginsTotal.inc({ protocol: 'web', outcome: 'failed' });
      refused(reply);
    },
  };
}

const IS_KNOWN = `
  select exists (
    select from sign_in_sources s join users u on u.id = s.user_id where u.email = $1 and s.source = $2) as known`;

/** Makes the source of a completed sign-in a known one, and forgets those not used for long. */
export async function rememberSource(sql: Sql, userId: string, ipAddress: string, nowMs: number): Promise<void> {
  await sql.query(REMEMBER, [
    userId,
    sourceOf(ipAddress),
    new Date(nowMs),
    new Date(nowMs - SIGN_IN_SOURCE_KEPT_DAYS * DAY_MS),
  ]);
}

const REMEMBER = `
  with forgotten as (delete from sign_in_sources where user_id = $1 and source <> $2 and used_at < $4)
  insert into sign_in_sources (user_id, source, used_at) values ($1, $2, $3)
  on conflict (user_id, source) do update set used_at = excluded.used_at`;
