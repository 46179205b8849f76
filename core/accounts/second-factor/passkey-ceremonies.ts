/**
 * Ceremonies of WebAuthn: what a browser is asked, and whether the answer is to that question.
 *
 *   begun: a challenge for one purpose, person, and session or sign-in ─▶ answered once, within five minutes
 *
 * The challenge comes back in the answer, signed by the authenticator. It is stored as a hash until then.
 */
import { randomBytes } from 'node:crypto';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential } from '#core/platform/secrets/credentials.ts';
import type { Sql } from '#db/database.ts';
import {
  PASSKEY_CEREMONY_LIFE_SECONDS,
  PASSKEY_CHALLENGE_BYTES,
  type PasskeyPurpose,
  type RelyingParty,
  relyingPartyOf,
} from '#domain/access/passkeys.ts';
import { CatalogueError } from '#domain/errors.ts';

/** What a ceremony belongs to. */
export interface CeremonyOf {
  readonly purpose: PasskeyPurpose;
  /** Null: whoever signs in. */
  readonly userId: string | null;
  /** Id of the session, or of the sign-in that waits for its second step. */
  readonly boundTo: string | null;
}

/** @returns the challenge, in base64url */
export async function beginCeremony(
  { pepper, now }: Pick<Services, 'pepper' | 'now'>,
  sql: Sql,
  { purpose, userId, boundTo }: CeremonyOf,
): Promise<string> {
  const challenge = randomBytes(PASSKEY_CHALLENGE_BYTES).toString('base64url');
  const nowMs = now();
  await sql.query(
    `insert into passkey_ceremonies (id, challenge_hash, purpose, user_id, bound_to, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      newId('passkeyCeremony', nowMs),
      hashCredential(challenge, pepper),
      purpose,
      userId,
      boundTo,
      new Date(nowMs),
      new Date(nowMs + PASSKEY_CEREMONY_LIFE_SECONDS * 1_000),
    ],
  );
  return challenge;
}

/** Why an answer is refused, for everybody but the log. */
export const refusedPasskey = (): CatalogueError =>
  new CatalogueError('unauthenticated', 'The passkey was not accepted.', {
    fix: 'Try again. If it was removed from the account, sign in with another one, or with the password.',
  });

/**
 * Takes the ceremony that an answer is for, in a transaction of its own: whatever comes of the answer, the challenge is
 * not accepted again.
 *
 * @param clientData the collected client data of the browser, in base64url
 * @returns the challenge
 * @throws {CatalogueError} unauthenticated
 */
export async function takeCeremony(
  { db, pepper, now }: Pick<Services, 'db' | 'pepper' | 'now'>,
  clientData: string,
  { purpose, userId, boundTo }: CeremonyOf,
): Promise<string> {
  const challenge = challengeOf(clientData);
  if (challenge === undefined) throw refusedPasskey();
  const taken = await db.transaction((sql) =>
    sql.query(
      `delete from passkey_ceremonies
        where challenge_hash = $1 and purpose = $2 and expires_at > $3
          and user_id is not distinct from $4 and bound_to is not distinct from $5 returning 1`,
      [hashCredential(challenge, pepper), purpose, new Date(now()), userId, boundTo],
    ),
  );
  if (taken.length === 0) throw refusedPasskey();
  return challenge;
}

function challengeOf(clientData: string): string | undefined {
  try {
    const { challenge }: { challenge?: unknown } = Object(
      JSON.parse(Buffer.from(clientData, 'base64url').toString('utf8')),
    );
    return typeof challenge === 'string' && challenge !== '' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/** @throws {CatalogueError} conflict: this service has no address where browsers have passkeys */
export function requireRelyingParty(publicUrl: string): RelyingParty {
  const site = relyingPartyOf(publicUrl);
  if (site === null)
    throw new CatalogueError('conflict', 'Passkeys need an address of this service with a name and TLS.', {
      fix: 'Let the operator set API_PUBLIC_URL to such an address, and use the dashboard there.',
    });
  return site;
}
