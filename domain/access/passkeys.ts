/** Passkeys of people who sign in: Web Authentication, https://www.w3.org/TR/webauthn-3/ (WebAuthn below). */

/** From the begin of a ceremony to the answer of the browser. */
export const PASSKEY_CEREMONY_LIFE_SECONDS = 300;
/** WebAuthn §13.4.3 asks for 16 at least. */
export const PASSKEY_CHALLENGE_BYTES = 32;
export const PASSKEYS_PER_PERSON_MAX = 20;
export const PASSKEY_NAME_MAX_CHARACTERS = 60;
/** Sign-ins by passkey that a source address may begin within the window of wrong passwords. */
export const PASSKEY_SIGN_INS_PER_SOURCE = 60;
/** Longest id of a credential (WebAuthn §4). */
export const PASSKEY_ID_MAX_BYTES = 1_023;
/** Longest value of an answer of a browser, in characters of base64url: an attestation with certificates. */
export const PASSKEY_FIELD_MAX_CHARACTERS = 16_384;
/** Signatures that are accepted, by COSE: EdDSA, ES256, RS256. All authenticators have one of them. */
export const PASSKEY_ALGORITHMS = [-8, -7, -257] as const;
/** How a browser reaches an authenticator (WebAuthn §5.8.4). Others are left out. */
export const PASSKEY_TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;
export type PasskeyTransport = (typeof PASSKEY_TRANSPORTS)[number];

/** What a ceremony is for: its challenge is accepted for nothing else. */
export type PasskeyPurpose = 'add' | 'sign_in' | 'second_step' | 'confirm';

/** The site that passkeys belong to. */
export interface RelyingParty {
  /** A domain: browsers accept no address of a host (WebAuthn §5.1.3). */
  readonly id: string;
  /** The only pages whose answers are accepted. */
  readonly origin: string;
}

const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[.*\])$/;
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The site of a public URL. Of an address of this machine it is `localhost`, where browsers have passkeys without TLS.
 *
 * @returns null: pages there cannot have passkeys, because they have no name, or no TLS
 */
export function relyingPartyOf(publicUrl: string): RelyingParty | null {
  const url = new URL(publicUrl);
  if (LOOPBACK.test(url.hostname)) url.hostname = 'localhost';
  const isLocal = url.hostname === 'localhost' || url.hostname.endsWith('.localhost');
  if (ADDRESS.test(url.hostname) || (url.protocol !== 'https:' && !isLocal)) return null;
  return { id: url.hostname, origin: url.origin };
}
