/** The passkeys of an account: added and removed by its person. Each signs in alone, and is a second factor too. */
import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { organizationsOf } from '#core/accounts/sessions.ts';
import { verifySignIn } from '#core/accounts/sign-in.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import {
  PASSKEY_ALGORITHMS,
  PASSKEYS_PER_PERSON_MAX,
  type PasskeyTransport,
  relyingPartyOf,
} from '#domain/access/passkeys.ts';
import { CatalogueError } from '#domain/errors.ts';
import { type FactorOwner, factorAdded, factorRemoved, lockFactors } from './factors-of-account.ts';
import { refusedPasskey, takeCeremony } from './passkey-ceremonies.ts';
import { askForNewPasskey, askForPasskey, type PasskeyCreation, type PasskeyRequest } from './passkey-requests.ts';
import { type CallerFrom, type FactorProof, withProof } from './proof.ts';
import { recordFactorChange } from './record-change.ts';

/** A signed-in person. */
export interface PasskeyOwner extends FactorOwner {
  readonly name: string;
}

export interface PasskeyView {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** What a browser sends about a new credential (WebAuthn §5.2.1); everything in base64url. */
export interface PasskeyRegistration {
  readonly id: string;
  readonly clientData: string;
  readonly attestationObject: string;
  readonly transports: readonly PasskeyTransport[];
}

const COLUMNS = `id, name, created_at as "createdAt", last_used_at as "lastUsedAt"`;

/** In the order in which they were added. */
export const listPasskeys = (sql: Sql, userId: string): Promise<PasskeyView[]> =>
  sql.query<PasskeyView>(`select ${COLUMNS} from passkeys where user_id = $1 order by id`, [userId]);

/**
 * Begins to add a passkey. The password is asked for, so that a stolen session cannot make a way in for good.
 *
 * @throws {CatalogueError} conflict; unauthenticated and rate_limited, as at sign-in
 */
export async function beginPasskey(
  services: Services,
  person: PasskeyOwner,
  {
    password,
    ipAddress,
    publicUrl,
  }: { readonly password: string; readonly ipAddress: string; readonly publicUrl: string },
): Promise<PasskeyCreation> {
  await verifySignIn(services, { email: person.email, password }, ipAddress);
  return services.db.transaction((sql) => askForNewPasskey(services, sql, person, publicUrl));
}

/**
 * Adds a passkey. If it is the first factor, the other sessions of the person end, because they were opened without it.
 * Send the notices after the commit.
 *
 * @returns recovery codes, to be shown once; null: the person has some already
 * @throws {CatalogueError} unauthenticated (not what was asked for), conflict (there is one, or too many)
 */
export async function addPasskey(
  services: Services,
  person: PasskeyOwner,
  input: { readonly name: string; readonly passkey: PasskeyRegistration; readonly publicUrl: string },
  caller: Caller,
): Promise<{
  readonly passkey: PasskeyView;
  readonly recoveryCodes: string[] | null;
  readonly notices: readonly NewMemberNotice[];
}> {
  const made = await verifyRegistration(services, person, input.passkey, input.publicUrl);
  return services.db.transaction(async (sql) => {
    const had = await lockFactors(sql, person.id);
    const [{ n } = { n: 0 }] = await sql.query<{ n: number }>(
      `select count(*)::int as n from passkeys where user_id = $1`,
      [person.id],
    );
    if (n >= PASSKEYS_PER_PERSON_MAX)
      throw new CatalogueError('conflict', `Your account has ${n} passkeys, which is the maximum.`, {
        fix: 'Remove one that you do not use.',
      });
    const nowMs = services.now();
    const [passkey] = await sql.query<PasskeyView>(
      `insert into passkeys (id, user_id, credential_id, public_key, sign_count, transports, name, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (credential_id) do nothing returning ${COLUMNS}`,
      [
        newId('passkey', nowMs),
        person.id,
        Buffer.from(made.id, 'base64url'),
        Buffer.from(made.publicKey),
        made.counter,
        input.passkey.transports,
        input.name,
        new Date(nowMs),
      ],
    );
    if (passkey === undefined)
      throw new CatalogueError('conflict', 'This passkey was added before.', { fix: 'Add another one.' });
    const recoveryCodes = await factorAdded(services, sql, person, had);
    const notices = await recordFactorChange(services, sql, person, caller, {
      action: 'user.passkey_added',
      details: { passkeyId: passkey.id, name: passkey.name },
      subject: 'Your account has a new passkey',
      what: `The passkey ${passkey.name} was added to the account ${person.email}: it signs in without the password.${had ? '' : ' All other sessions were ended.'}`,
    });
    return { passkey, recoveryCodes, notices };
  });
}

async function verifyRegistration(
  services: Services,
  person: FactorOwner,
  { id, clientData, attestationObject }: PasskeyRegistration,
  publicUrl: string,
) {
  const site = relyingPartyOf(publicUrl);
  if (site === null) throw refusedPasskey();
  const of = { purpose: 'add', userId: person.id, boundTo: person.sessionId } as const;
  const challenge = await takeCeremony(services, clientData, of);
  const verified = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: { clientDataJSON: clientData, attestationObject },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...PASSKEY_ALGORITHMS],
  }).catch((error: unknown) => {
    services.log.info({ reason: reasonOf(error) }, 'a new passkey was refused');
  });
  if (verified?.verified !== true) throw refusedPasskey();
  return verified.registrationInfo.credential;
}

/** Begins the proof that a change of factors needs (`withProof`). @throws {CatalogueError} conflict */
export const beginConfirmation = (
  services: Services,
  { id, sessionId }: FactorOwner,
  publicUrl: string,
): Promise<PasskeyRequest> =>
  services.db.transaction((sql) =>
    askForPasskey(services, sql, { purpose: 'confirm', userId: id, boundTo: sessionId }, publicUrl),
  );

/**
 * Removes a passkey by a fresh proof. The last factor stays while an organization of the person requires one: unlike an
 * app, of which there is one, another passkey can always be added first. Send the notices after the commit.
 *
 * @throws {CatalogueError} not_found, conflict, unauthenticated, rate_limited
 */
export async function removePasskey(
  services: Services,
  person: FactorOwner,
  passkeyId: string,
  proof: FactorProof,
  caller: CallerFrom,
): Promise<readonly NewMemberNotice[]> {
  const own = await services.db.query(`select 1 from passkeys where id = $1 and user_id = $2`, [passkeyId, person.id]);
  if (own.length === 0) throw new CatalogueError('not_found');
  return withProof(services, person, proof, caller, async (sql, used) => {
    await lockFactors(sql, person.id);
    const [removed] = await sql.query<{ name: string }>(
      `delete from passkeys where id = $1 and user_id = $2 returning name`,
      [passkeyId, person.id],
    );
    if (removed === undefined) throw new CatalogueError('not_found');
    if (!(await lockFactors(sql, person.id))) await requireNoPolicy(sql, person.id);
    await factorRemoved(sql, person.id);
    const notices = await recordFactorChange(services, sql, person, caller, {
      action: 'user.passkey_removed',
      details: { passkeyId, name: removed.name },
      subject: 'A passkey of your account was removed',
      what: `The passkey ${removed.name} was removed from the account ${person.email}.`,
    });
    return [...used, ...notices];
  });
}

/** @throws {CatalogueError} conflict */
async function requireNoPolicy(sql: Sql, userId: string): Promise<void> {
  const requiring = (await organizationsOf(sql, userId)).find(({ secondFactor }) => secondFactor !== 'off');
  if (requiring === undefined) return;
  throw new CatalogueError('conflict', `${requiring.name} requires a second factor, and this is your last one.`, {
    fix: 'Add another passkey or an authenticator app first.',
  });
}
