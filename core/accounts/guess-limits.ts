/**
 * Guesses of passwords and of codes, counted in the database for all processes.
 *
 * From a source that the person has signed in from before, only the failures of this source for this account count, so
 * nobody elsewhere can lock the person out there. From other sources three counts refuse: of the source, of the source for
 * this account, and of the account. One source cannot fill the last one. When many sources have filled it, passwords can
 * still be tried twice from each network: guessing gets slow, and the person still signs in from a new place. Codes cannot,
 * because they are short, and an attacker who guesses them knows the password already.
 */
import { networkOf, sourceOf } from '#core/platform/addresses/source-address.ts';
import { loginsTotal } from '#core/platform/log/metrics.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { countUse, uncountUse } from '#db/queries/platform/count-use.ts';
import {
  SECOND_FACTOR_ACCOUNT_TRIES,
  SECOND_FACTOR_TRIES,
  SIGN_IN_ACCOUNT_TRIES,
  SIGN_IN_NETWORK_TRIES,
  SIGN_IN_SOURCE_KEPT_DAYS,
  SIGN_IN_TRIES,
  SIGN_IN_WINDOW_SECONDS,
} from '#domain/access/credential-format.ts';
import { limitingPairs } from '#domain/access/sign-in-limits.ts';
import { CatalogueError } from '#domain/errors.ts';

const DAY_MS = 86_400_000;

/** Failures within the window. `network`: when those of the account are used up. */
const LIMITS = {
  sign_in: {
    source: SIGN_IN_TRIES,
    pair: SIGN_IN_TRIES,
    account: SIGN_IN_ACCOUNT_TRIES,
    network: SIGN_IN_NETWORK_TRIES,
  },
  second_factor: { source: SIGN_IN_TRIES, pair: SECOND_FACTOR_TRIES, account: SECOND_FACTOR_ACCOUNT_TRIES, network: 0 },
} as const;

interface Guess {
  /** Failures of the two steps of a sign-in are counted apart. */
  readonly of: 'sign_in' | 'second_factor';
  /** Address of the account, in lower case; there may be none. */
  readonly account: string;
  readonly ipAddress: string;
}

/** A guess that was counted, and whose secret has not been compared yet. */
interface CountedGuess {
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
  const limits = LIMITS[of];
  const counters: string[] = [];
  const count = async (counter: string) => {
    counters.push(counter);
    return countUse(db, counter, SIGN_IN_WINDOW_SECONDS * 1_000, services.now());
  };
  const refuse = (resetsInMs: number): never => {
    loginsTotal.inc({ protocol: 'web', outcome: 'throttled' });
    refused('too many failed sign-ins');
    throw new CatalogueError('rate_limited', 'Too many failed sign-ins.', {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
  };
  for (const pair of limitingPairs({ source, account, known })) {
    const { used, resetsInMs } = await count(`${of}:address:${pair}`);
    if (used > (pair === source ? limits.source : limits.pair)) refuse(resetsInMs);
  }
  if (!known) {
    const ofAccount = await count(`${of}:account:${account}`);
    if (ofAccount.used > limits.account) {
      const ofNetwork = await count(`${of}:network:${networkOf(ipAddress)} ${account}`);
      if (ofNetwork.used > limits.network) refuse(ofNetwork.resetsInMs);
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
