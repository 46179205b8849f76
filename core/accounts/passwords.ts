import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { semaphore } from '#core/platform/batching/semaphore.ts';

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
export async function verifyAgainstNobody(password: string): Promise<false> {
  decoy ??= hashPassword(randomBytes(SALT_BYTES).toString('hex'));
  await verifyPassword(password, await decoy);
  return false;
}
