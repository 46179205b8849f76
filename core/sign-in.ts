import { User, type UserRow } from '../db/entities/user.ts';
import { countUse, uncountUse } from '../db/queries/count-use.ts';
import { SIGN_IN_TRIES, SIGN_IN_WINDOW_SECONDS } from '../domain/credential-format.ts';
import { CatalogueError } from '../domain/errors.ts';
import { verifyAgainstNobody, verifyPassword } from './passwords.ts';
import type { Services } from './services.ts';

/**
 * The user of an e-mail address and password. Failed tries are counted per address of the caller and per account, and
 * an account that does not exist takes as long and answers the same as a wrong password.
 *
 * @throws {CatalogueError} unauthenticated, rate_limited
 */
export async function verifySignIn(
  services: Services,
  input: { readonly email: string; readonly password: string },
  ipAddress: string,
): Promise<UserRow> {
  const email = input.email.toLowerCase();
  const counters = [`sign_in:address:${ipAddress}`, `sign_in:account:${email}`];
  // Counted before the password is looked at, so that tries at the same time cannot slip through together.
  for (const counter of counters) {
    const { used, resetsInMs } = await countUse(services.db, counter, SIGN_IN_WINDOW_SECONDS * 1_000, services.now());
    if (used > SIGN_IN_TRIES)
      throw new CatalogueError('rate_limited', 'Too many failed tries to sign in.', {
        retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
      });
  }
  const user = await services.db.em().findOne(User, { email });
  const matches =
    user === null ? await verifyAgainstNobody(input.password) : await verifyPassword(input.password, user.passwordHash);
  if (user === null || !matches)
    throw new CatalogueError('unauthenticated', 'E-mail address or password is wrong.', {
      fix: 'Check both and try again; after several failed tries you have to wait.',
    });
  for (const counter of counters) await uncountUse(services.db, counter);
  return user;
}
