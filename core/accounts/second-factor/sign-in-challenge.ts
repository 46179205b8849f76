/**
 * Signing in to an account with a second factor:
 *
 *   password ─▶ challenge: five minutes, five codes, opens nothing ─▶ code of the app, or a recovery code ─▶ session
 *
 * A challenge is deleted by the sign-in, by a new password and by a reset of the second factor.
 */

import { countGuess } from '#core/accounts/guess-limits.ts';
import {
  createSession,
  insertSession,
  type NewSession,
  type SignInOrigin,
  userCaller,
} from '#core/accounts/sessions.ts';
import { verifySignIn } from '#core/accounts/sign-in.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { type Sql, sqlOfEntityManager } from '#db/database.ts';
import { isCredential } from '#domain/access/credential-format.ts';
import { CHALLENGE_TRIES, SIGN_IN_CHALLENGE_LIFE_SECONDS } from '#domain/access/second-factor.ts';
import { CatalogueError } from '#domain/errors.ts';
import { acceptCode } from './codes.ts';

export interface SignInChallenge {
  /** Shown this once. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** What a right password leads to. */
export type SignInStep = { readonly session: NewSession } | { readonly challenge: SignInChallenge };

/** Signs in with a password, or begins the second step. @throws {CatalogueError} as `verifySignIn` */
export async function signInByPassword(
  services: Services,
  input: { readonly email: string; readonly password: string },
  origin: SignInOrigin & { readonly ipAddress: string },
): Promise<SignInStep> {
  const { user, hasSecondFactor } = await verifySignIn(services, input, origin.ipAddress);
  if (!hasSecondFactor) return { session: await createSession(services, user, origin) };
  return { challenge: await services.db.transaction((sql) => insertChallenge(services, sql, user.id)) };
}

/** Begins the second step in somebody's transaction. */
export async function insertChallenge(
  { pepper, now }: Pick<Services, 'pepper' | 'now'>,
  sql: Sql,
  userId: string,
): Promise<SignInChallenge> {
  const token = newCredential('signInChallenge');
  const nowMs = now();
  const expiresAt = new Date(nowMs + SIGN_IN_CHALLENGE_LIFE_SECONDS * 1_000);
  await sql.query(
    `insert into sign_in_challenges (id, user_id, token_hash, created_at, expires_at) values ($1, $2, $3, $4, $5)`,
    [newId('signInChallenge', nowMs), userId, hashCredential(token, pepper), new Date(nowMs), expiresAt],
  );
  return { token, expiresAt };
}

const ended = (): CatalogueError =>
  new CatalogueError('unauthenticated', 'The sign-in has ended: it took too long, or too many codes were entered.', {
    fix: 'Sign in with your password again.',
  });

/**
 * The second step. Send the notices after the commit.
 *
 * @throws {CatalogueError} unauthenticated (the challenge has ended, or the code is wrong or was used), rate_limited
 */
export async function answerChallenge(
  services: Services,
  input: { readonly challenge: string; readonly code: string },
  origin: SignInOrigin & { readonly ipAddress: string },
): Promise<{ readonly session: NewSession; readonly notices: readonly NewMemberNotice[] }> {
  if (!isCredential('signInChallenge', input.challenge)) throw ended();
  const { db } = services;
  const hash = hashCredential(input.challenge, services.pepper);
  // Counted before the code is compared, so that concurrent ones cannot exceed the number.
  const [person] = await db.query<{ id: string; name: string; email: string }>(
    `update sign_in_challenges c set tries = tries + 1 from users u
      where c.token_hash = $1 and c.expires_at > $2 and c.tries < $3 and u.id = c.user_id
      returning u.id, u.name, u.email`,
    [hash, new Date(services.now()), CHALLENGE_TRIES],
  );
  if (person === undefined) throw ended();
  const guess = await countGuess(services, {
    of: 'second_factor',
    account: person.email,
    ipAddress: origin.ipAddress,
  });
  const done = await db.entityTransaction(async (em) => {
    const sql = sqlOfEntityManager(em);
    const taken = await sql.query(`delete from sign_in_challenges where token_hash = $1 returning id`, [hash]);
    if (taken.length === 0) throw ended();
    const notices = await acceptCode(services, sql, person, input.code, userCaller(person, origin)).catch(
      (error: unknown) => {
        if (error instanceof CatalogueError) guess.failed('code is wrong');
        throw error;
      },
    );
    const secondFactorAt = new Date(services.now());
    return { session: await insertSession(services, em, person, { ...origin, secondFactorAt }), notices };
  });
  await guess.passed();
  return done;
}
