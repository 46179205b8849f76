/**
 * Signing in to an account with a second factor:
 *
 *   password ─▶ challenge: five minutes, five tries, opens nothing ─▶ code of the app, recovery code or passkey ─▶ session
 *
 * A challenge is deleted by the sign-in, by a new password and by a reset of the second factor.
 */

import type { EntityManager } from '@mikro-orm/postgresql';
import {
  insertSession,
  type NewSession,
  type SignedInUser,
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
import { lockFactors } from './factors-of-account.ts';
import { linkIdentity, type OidcSubject } from './oidc-link.ts';
import { askForPasskey, type PasskeyRequest } from './passkey-requests.ts';
import { type FactorProof, readProof, withGuess } from './proof.ts';

export interface SignInChallenge {
  /** Shown this once. */
  readonly token: string;
  readonly expiresAt: Date;
  /** The account has passkeys; without one only a code is accepted. */
  readonly passkey: boolean;
}

/** What a right password leads to. */
export type SignInStep = { readonly session: NewSession } | { readonly challenge: SignInChallenge };

/** Signs in with a password, or begins the second step. @throws {CatalogueError} as `verifySignIn` */
export async function signInByPassword(
  services: Services,
  input: { readonly email: string; readonly password: string },
  origin: SignInOrigin & { readonly ipAddress: string },
): Promise<SignInStep> {
  const { user } = await verifySignIn(services, input, origin.ipAddress);
  return services.db.entityTransaction((em) => stepAfterPassword(services, em, user, origin));
}

interface Recognition {
  /** The provider of a single sign-on has seen a second factor. */
  readonly isProven?: boolean;
  /** What the account is linked to, when the sign-in is complete. */
  readonly link?: OidcSubject & { readonly isProven: boolean };
}

/**
 * What follows when a person is recognized, in somebody's transaction. A factor that is added at the same time either ends
 * the session with all others, or is asked for.
 */
export async function stepAfterPassword(
  services: Services,
  em: EntityManager,
  { id, name, email }: SignedInUser,
  origin: SignInOrigin,
  { isProven = false, link }: Recognition = {},
): Promise<SignInStep> {
  const sql = sqlOfEntityManager(em);
  // To link an account needs its own factor: that of a provider counts from then on.
  if ((await lockFactors(sql, id)) && !isProven) return { challenge: await insertChallenge(services, sql, id, link) };
  const person = { id, name, email };
  if (link !== undefined) await linkIdentity(services, sql, person, link, userCaller(person, origin));
  const secondFactorAt = isProven || link?.isProven === true ? new Date(services.now()) : null;
  return { session: await insertSession(services, em, person, { ...origin, secondFactorAt }) };
}

/** Begins the second step in somebody's transaction. */
async function insertChallenge(
  { pepper, now }: Pick<Services, 'pepper' | 'now'>,
  sql: Sql,
  userId: string,
  link?: OidcSubject,
): Promise<SignInChallenge> {
  const token = newCredential('signInChallenge');
  const nowMs = now();
  const expiresAt = new Date(nowMs + SIGN_IN_CHALLENGE_LIFE_SECONDS * 1_000);
  await sql.query(
    `insert into sign_in_challenges (id, user_id, token_hash, created_at, expires_at, link_issuer, link_subject)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      newId('signInChallenge', nowMs),
      userId,
      hashCredential(token, pepper),
      new Date(nowMs),
      expiresAt,
      link?.issuer ?? null,
      link?.subject ?? null,
    ],
  );
  const [{ passkey } = { passkey: false }] = await sql.query<{ passkey: boolean }>(
    `select exists (select from passkeys where user_id = $1) as passkey`,
    [userId],
  );
  return { token, expiresAt, passkey };
}

const ended = (): CatalogueError =>
  new CatalogueError('unauthenticated', 'The sign-in has ended: it took too long, or was tried too often.', {
    fix: 'Sign in with your password again.',
  });

/** Begins the answer to a challenge by passkey. @throws {CatalogueError} unauthenticated (it has ended), conflict */
export async function beginPasskeyStep(
  services: Services,
  challenge: string,
  publicUrl: string,
): Promise<PasskeyRequest> {
  const [waiting] = await services.db.query<{ id: string; userId: string }>(
    `select id, user_id as "userId" from sign_in_challenges where token_hash = $1 and expires_at > $2 and tries < $3`,
    [hashOf(services, challenge), new Date(services.now()), CHALLENGE_TRIES],
  );
  if (waiting === undefined) throw ended();
  const of = { purpose: 'second_step', userId: waiting.userId, boundTo: waiting.id } as const;
  return services.db.transaction((sql) => askForPasskey(services, sql, of, publicUrl));
}

function hashOf({ pepper }: Services, challenge: string): Buffer {
  if (!isCredential('signInChallenge', challenge)) throw ended();
  return hashCredential(challenge, pepper);
}

/**
 * The second step. Send the notices after the commit.
 *
 * @throws {CatalogueError} unauthenticated (the challenge has ended, or the proof is wrong or was used), rate_limited
 */
export async function answerChallenge(
  services: Services,
  input: { readonly challenge: string; readonly proof: FactorProof },
  origin: SignInOrigin & { readonly ipAddress: string },
): Promise<{ readonly session: NewSession; readonly notices: readonly NewMemberNotice[] }> {
  const { db } = services;
  const hash = hashOf(services, input.challenge);
  // Counted before the proof is looked at, so that concurrent ones cannot exceed the number.
  const [person] = await db.query<{ id: string; name: string; email: string; boundTo: string }>(
    `update sign_in_challenges c set tries = tries + 1 from users u
      where c.token_hash = $1 and c.expires_at > $2 and c.tries < $3 and u.id = c.user_id
      returning u.id, u.name, u.email, c.id as "boundTo"`,
    [hash, new Date(services.now()), CHALLENGE_TRIES],
  );
  if (person === undefined) throw ended();
  const { boundTo } = person;
  return withGuess(services, person, origin, async () => {
    const of = { purpose: 'second_step', boundTo } as const;
    const accept = await readProof(services, person, input.proof, of, userCaller(person, origin));
    return db.entityTransaction(async (em) => {
      const sql = sqlOfEntityManager(em);
      const [taken] = await sql.query<{ issuer: string | null; subject: string | null }>(
        `delete from sign_in_challenges where token_hash = $1 returning link_issuer as issuer, link_subject as subject`,
        [hash],
      );
      if (taken === undefined) throw ended();
      const notices = await accept(sql);
      const { issuer, subject } = taken;
      if (issuer !== null && subject !== null)
        await linkIdentity(services, sql, person, { issuer, subject }, userCaller(person, origin));
      const secondFactorAt = new Date(services.now());
      return { session: await insertSession(services, em, person, { ...origin, secondFactorAt }), notices };
    });
  });
}
