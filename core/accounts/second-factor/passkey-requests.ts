/** What a browser is asked for with `navigator.credentials`, in the JSON forms of WebAuthn §5.1.8 and §5.1.9. */
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { PASSKEY_ALGORITHMS, PASSKEY_CEREMONY_LIFE_SECONDS, type PasskeyTransport } from '#domain/access/passkeys.ts';
import { userHandleOf } from './passkey-assertions.ts';
import { beginCeremony, type CeremonyOf, requireRelyingParty } from './passkey-ceremonies.ts';

/** A passkey as authenticators know it. */
interface Descriptor {
  readonly type: 'public-key';
  /** In base64url. */
  readonly id: string;
  readonly transports: PasskeyTransport[];
}

/** For `navigator.credentials.get`. */
export interface PasskeyRequest {
  readonly challenge: string;
  readonly rpId: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly userVerification: 'required';
  /** Empty: whichever the authenticator has for this site. */
  readonly allowCredentials: Descriptor[];
}

/** For `navigator.credentials.create`. */
export interface PasskeyCreation {
  readonly challenge: string;
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly pubKeyCredParams: { readonly type: 'public-key'; readonly alg: number }[];
  /** Milliseconds. */
  readonly timeout: number;
  readonly attestation: 'none';
  readonly authenticatorSelection: {
    readonly residentKey: 'required';
    readonly requireResidentKey: true;
    readonly userVerification: 'required';
  };
  /** Those that the person has already. */
  readonly excludeCredentials: Descriptor[];
}

const SITE_NAME = 'Agent Mailbox';
const timeout = PASSKEY_CEREMONY_LIFE_SECONDS * 1_000;

async function descriptorsOf(sql: Sql, userId: string): Promise<Descriptor[]> {
  const rows = await sql.query<{ credential: Buffer; transports: PasskeyTransport[] }>(
    `select credential_id as credential, transports from passkeys where user_id = $1 order by id`,
    [userId],
  );
  return rows.map(({ credential, transports }) => ({
    type: 'public-key',
    id: credential.toString('base64url'),
    transports,
  }));
}

/** Begins a ceremony in somebody's transaction. @throws {CatalogueError} conflict: the service cannot have passkeys */
export async function askForPasskey(
  services: Pick<Services, 'pepper' | 'now'>,
  sql: Sql,
  of: CeremonyOf,
  publicUrl: string,
): Promise<PasskeyRequest> {
  const site = requireRelyingParty(publicUrl);
  return {
    challenge: await beginCeremony(services, sql, of),
    rpId: site.id,
    timeout,
    // A passkey stands for both factors, also where a password came first: so there is one kind of them.
    userVerification: 'required',
    allowCredentials: of.userId === null ? [] : await descriptorsOf(sql, of.userId),
  };
}

/** The same for a new passkey. */
export async function askForNewPasskey(
  services: Pick<Services, 'pepper' | 'now'>,
  sql: Sql,
  person: { readonly id: string; readonly name: string; readonly email: string; readonly sessionId: string },
  publicUrl: string,
): Promise<PasskeyCreation> {
  const site = requireRelyingParty(publicUrl);
  return {
    challenge: await beginCeremony(services, sql, { purpose: 'add', userId: person.id, boundTo: person.sessionId }),
    rp: { id: site.id, name: SITE_NAME },
    user: { id: userHandleOf(person.id), name: person.email, displayName: person.name },
    pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout,
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    excludeCredentials: await descriptorsOf(sql, person.id),
  };
}
