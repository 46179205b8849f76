import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { semaphore } from '#core/platform/batching/semaphore.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { User, type UserRow } from '#db/entities.ts';
import { CatalogueError } from '#domain/errors.ts';
import { countGuess } from './guess-limits.ts';

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

/**
 * The user of an e-mail address and password; guesses are limited (`guess-limits.ts`). An account that does not exist
 * takes as long and answers the same as a wrong password.
 *
 * @throws {CatalogueError} unauthenticated, rate_limited; forbidden, if all organizations of the person are suspended
 */
export async function verifySignIn(
  services: Services,
  input: { readonly email: string; readonly password: string },
  ipAddress: string,
): Promise<{ readonly user: UserRow }> {
  const { db } = services;
  const account = input.email.toLowerCase();
  const guess = await countGuess(services, { of: 'sign_in', account, ipAddress });
  const user = await db.em().findOne(User, { email: account });
  const matches =
    user === null ? await verifyAgainstNobody(input.password) : await verifyPassword(input.password, user.passwordHash);
  if (user === null || !matches) {
    guess.failed('address or password is wrong');
    throw new CatalogueError('unauthenticated', 'E-mail address or password is wrong.', {
      fix: 'Check both and try again; after several failures you have to wait.',
    });
  }
  await guess.passed();
  await requireActive(db, user.id);
  return { user };
}

/**
 * What else is needed where somebody signs in, in whatever way.
 *
 * @throws {CatalogueError} forbidden, if all organizations of the person are suspended
 */
export async function requireActive(sql: Sql, userId: string): Promise<void> {
  const [{ suspended } = { suspended: false }] = await sql.query<{ suspended: boolean }>(SUSPENDED, [userId]);
  if (suspended)
    throw new CatalogueError('forbidden', 'Your organization is suspended by the operator of this service.', {
      fix: 'Ask the operator of this service. Nothing was deleted.',
    });
}

/** Of a person without any organization: not suspended. */
const SUSPENDED = `
  select coalesce(bool_and(o.suspended_at is not null), false) as suspended
    from members m join organizations o on o.id = m.organization_id where m.user_id = $1`;
