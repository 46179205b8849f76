/** The answer of an authenticator that somebody holds it, and has unlocked it: which passkey, and of whom. */
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import type { Caller } from '#core/platform/caller.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { type PasskeyTransport, relyingPartyOf } from '#domain/access/passkeys.ts';
import { CatalogueError } from '#domain/errors.ts';
import { type CeremonyOf, refusedPasskey, takeCeremony } from './passkey-ceremonies.ts';
import { recordFactorChange } from './record-change.ts';

/** What a browser sends (WebAuthn §5.2.2); everything in base64url. */
export interface PasskeyAssertion {
  readonly id: string;
  readonly clientData: string;
  readonly authenticatorData: string;
  readonly signature: string;
  /** Whose passkey it is, as far as the authenticator knows. */
  readonly userHandle?: string;
}

/** A person who has proven to hold a passkey. */
export interface PasskeyPerson {
  readonly passkeyId: string;
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

interface StoredPasskey extends PasskeyPerson {
  readonly credential: Buffer;
  readonly publicKey: Buffer;
  readonly transports: PasskeyTransport[];
}

const PASSKEY = `
  select p.id as "passkeyId", p.credential_id as credential, p.public_key as "publicKey", p.transports,
         u.id, u.name, u.email
    from passkeys p join users u on u.id = p.user_id
   where p.credential_id = $1 and ($2::text is null or p.user_id = $2)`;

/** How a person is named to authenticators: our id, which says nothing about the person. */
export const userHandleOf = (userId: string): string => Buffer.from(userId).toString('base64url');

/**
 * Checks an answer, and notes the use of the passkey. One whose counter went back is refused: it may be a copy. The audit
 * log has that, and its person is notified.
 *
 * @param of what the answer must be for
 * @throws {CatalogueError} unauthenticated
 */
export async function verifyAssertion(
  services: Services,
  { passkey, publicUrl }: { readonly passkey: PasskeyAssertion; readonly publicUrl: string },
  of: CeremonyOf,
  origin: Pick<Caller, 'ipAddress' | 'requestId'>,
): Promise<PasskeyPerson> {
  const { db, log } = services;
  const site = relyingPartyOf(publicUrl);
  if (site === null) throw refusedPasskey();
  const challenge = await takeCeremony(services, passkey.clientData, of);
  const [stored] = await db.query<StoredPasskey>(PASSKEY, [Buffer.from(passkey.id, 'base64url'), of.userId]);
  if (stored === undefined) throw refusedPasskey();
  if (passkey.userHandle !== undefined && passkey.userHandle !== userHandleOf(stored.id)) throw refusedPasskey();
  const id = stored.credential.toString('base64url');
  const { clientData, authenticatorData, signature } = passkey;
  const verified = await verifyAuthenticationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: { clientDataJSON: clientData, authenticatorData, signature },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.id,
    requireUserVerification: true,
    // The counter is compared where it is written, so that two answers at the same time are too.
    credential: { id, publicKey: new Uint8Array(stored.publicKey), counter: 0, transports: stored.transports },
  }).catch((error: unknown) => {
    log.info({ reason: reasonOf(error) }, 'the answer of a passkey was refused');
  });
  if (verified?.verified !== true) throw refusedPasskey();
  const { passkeyId, name, email } = stored;
  const person = { passkeyId, id: stored.id, name, email };
  if (!(await noteUse(services, person, verified.authenticationInfo.newCounter, origin)))
    throw new CatalogueError('unauthenticated', 'The passkey was refused: it may have been copied.', {
      fix: 'Sign in in another way, and remove this passkey from your account.',
    });
  return person;
}

/** @returns false: the counter went back */
function noteUse(
  services: Services,
  person: PasskeyPerson,
  counter: number,
  origin: Pick<Caller, 'ipAddress' | 'requestId'>,
): Promise<boolean> {
  return services.db.transaction(async (sql) => {
    // WebAuthn §6.1.1: those that do not count stay at 0.
    const noted = await sql.query(
      `update passkeys set sign_count = $2, last_used_at = $3
        where id = $1 and (sign_count < $2 or (sign_count = 0 and $2 = 0)) returning 1`,
      [person.passkeyId, counter, new Date(services.now())],
    );
    if (noted.length > 0) return true;
    const actor = { type: 'user', id: person.id, name: person.name, email: person.email, address: null } as const;
    const [row] = await sql.query<{ name: string }>(`select name from passkeys where id = $1`, [person.passkeyId]);
    // The running service sends what is written here.
    await recordFactorChange(
      services,
      sql,
      person,
      { actor, ...origin },
      {
        action: 'user.passkey_refused',
        details: { passkeyId: person.passkeyId, reason: 'counter' },
        subject: 'A passkey of your account may have been copied',
        what: `The passkey ${row?.name ?? ''} of the account ${person.email} was refused, because its counter went back: there may be a copy of it. Remove it in My account.`,
      },
    );
    return false;
  });
}

/**
 * Keeps a passkey from being removed until the end of a transaction that relies on it.
 *
 * @throws {CatalogueError} unauthenticated: it was removed
 */
export async function holdPasskey(sql: Sql, { passkeyId }: PasskeyPerson): Promise<void> {
  const held = await sql.query(`select 1 from passkeys where id = $1 for key share`, [passkeyId]);
  if (held.length === 0) throw refusedPasskey();
}
