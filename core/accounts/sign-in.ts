import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { sourceOf } from '#core/platform/addresses/source-address.ts';
import { semaphore } from '#core/platform/batching/semaphore.ts';
import { loginsTotal } from '#core/platform/log/metrics.ts';
import type { Services } from '#core/platform/process/services.ts';
import { User, type UserRow } from '#db/entities.ts';
import { countUse, uncountUse } from '#db/queries/platform/count-use.ts';
import { SIGN_IN_SOURCE_KEPT_DAYS, SIGN_IN_TRIES, SIGN_IN_WINDOW_SECONDS } from '#domain/access/credential-format.ts';
import { limitingPairs } from '#domain/access/sign-in-limits.ts';
import { CatalogueError } from '#domain/errors.ts';

/** argon2id, OWASP's second recommended setting: 19 MiB, two passes, one lane; 20–40 ms. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const PARALLELISM = 1;
const TAG_BYTES = 32;
const SALT_BYTES = 16;
/** Maximum concurrent hashes: each uses a thread of the pool and 19 MiB, and sign-in must not starve the rest. */
const CONCURRENCY = 2;

const argon2Async = promisify(argon2);
const hashers = semaphore(CONCURRENCY);

async function digest(password: string, salt: Buffer, memory: number, passes: number, lanes: number): Promise<Buffer> {
  const release = await hashers.take();
  try {
    return await argon2Async('argon2id', {
      message: password.normalize('NFKC'),
      nonce: salt,
      memory,
      passes,
      parallelism: lanes,
      tagLength: TAG_BYTES,
    });
  } finally {
    release();
  }
}

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** Password in PHC string form: `$argon2id$v=19$m=19456,t=2,p=1$salt$tag`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await digest(password, salt, MEMORY_KIB, PASSES, PARALLELISM);
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${PARALLELISM}$${base64(salt)}$${base64(tag)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Whether a password matches a stored hash, with whatever parameters it was created. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, memory, passes, lanes, salt, tag] = PHC.exec(stored) ?? [];
  if (salt === undefined || tag === undefined) return false;
  const expected = Buffer.from(tag, 'base64');
  const found = await digest(password, Buffer.from(salt, 'base64'), Number(memory), Number(passes), Number(lanes));
  return found.length === expected.length && timingSafeEqual(found, expected);
}

let decoy: Promise<string> | undefined;

/** Spends the time of a verification for an account that does not exist, so that the two cannot be distinguished. */
async function verifyAgainstNobody(password: string): Promise<false> {
  decoy ??= hashPassword(randomBytes(SALT_BYTES).toString('hex'));
  await verifyPassword(password, await decoy);
  return false;
}

const DAY_MS = 86_400_000;

/**
 * The user of an e-mail address and password. Failed tries are counted in the database, for all processes: by source,
 * by source and account, and by account. From a source that the person has signed in from before, only the failures of
 * this source for this account count, so that failures from elsewhere cannot lock the person out. An account that does
 * not exist takes as long and answers the same as a wrong password.
 *
 * @throws {CatalogueError} unauthenticated, rate_limited; forbidden, if all organizations of the person are suspended
 */
export async function verifySignIn(
  services: Services,
  input: { readonly email: string; readonly password: string },
  ipAddress: string,
): Promise<UserRow> {
  const { db, mailLog } = services;
  const refused = (reply: string) =>
    mailLog.refused({ mail: 'login', outcome: 'refused', listener: 'sign-in', client: ipAddress, account, reply });
  const account = input.email.toLowerCase();
  const source = sourceOf(ipAddress);
  const [{ known } = { known: false }] = await db.query<{ known: boolean }>(IS_KNOWN, [account, source]);
  const counters = [
    ...limitingPairs({ source, account, known }).map((pair) => `sign_in:address:${pair}`),
    ...(known ? [] : [`sign_in:account:${account}`]),
  ];
  // Counted before the password is checked, so that concurrent tries cannot exceed the limit.
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
  const user = await db.em().findOne(User, { email: account });
  const matches =
    user === null ? await verifyAgainstNobody(input.password) : await verifyPassword(input.password, user.passwordHash);
  loginsTotal.inc({ protocol: 'web', outcome: user !== null && matches ? 'passed' : 'failed' });
  if (user === null || !matches) {
    refused('address or password is wrong');
    throw new CatalogueError('unauthenticated', 'E-mail address or password is wrong.', {
      fix: 'Check both and try again; after several failures you have to wait.',
    });
  }
  for (const counter of counters) await uncountUse(db, counter);
  const [{ suspended } = { suspended: false }] = await db.query<{ suspended: boolean }>(ALL_SUSPENDED, [user.id]);
  if (suspended)
    throw new CatalogueError('forbidden', 'Your organization is suspended by the operator of this service.', {
      fix: 'Ask the operator of this service. Nothing was deleted.',
    });
  const now = services.now();
  await db.query(REMEMBER, [user.id, source, new Date(now), new Date(now - SIGN_IN_SOURCE_KEPT_DAYS * DAY_MS)]);
  return user;
}

/** Of a person without any organization: false. */
const ALL_SUSPENDED = `
  select coalesce(bool_and(o.suspended_at is not null), false) as suspended
    from members m join organizations o on o.id = m.organization_id where m.user_id = $1`;

const IS_KNOWN = `
  select exists (
    select from sign_in_sources s join users u on u.id = s.user_id where u.email = $1 and s.source = $2) as known`;

/** Notes the source, and forgets those not used for long. */
const REMEMBER = `
  with forgotten as (delete from sign_in_sources where user_id = $1 and source <> $2 and used_at < $4)
  insert into sign_in_sources (user_id, source, used_at) values ($1, $2, $3)
  on conflict (user_id, source) do update set used_at = excluded.used_at`;
