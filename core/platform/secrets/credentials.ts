import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import {
  CREDENTIAL_PREFIXES,
  CREDENTIAL_RANDOM_BYTES,
  type CredentialKind,
  credentialChecksum,
} from '#domain/access/credential-format.ts';

/** A new credential in its full text. It is shown once and never stored. */
export const newCredential = (kind: CredentialKind): string => credentialOf(kind, randomBytes(CREDENTIAL_RANDOM_BYTES));

function credentialOf(kind: CredentialKind, bytes: Uint8Array): string {
  const text = CREDENTIAL_PREFIXES[kind] + Buffer.from(bytes).toString('base64url');
  return text + credentialChecksum(text);
}

/**
 * The credential that replaces another one. With the same salt it is the same again, so that an answer can be repeated
 * without storing it. To compute it takes the replaced credential, which is not stored, the salt and the pepper.
 *
 * @param salt random, for this replacement only
 */
export const replacingCredential = (
  kind: CredentialKind,
  replaced: string,
  salt: Uint8Array,
  pepper: Uint8Array,
): string =>
  credentialOf(
    kind,
    hashCredential(`replaces ${CREDENTIAL_PREFIXES[kind]} ${Buffer.from(salt).toString('hex')} ${replaced}`, pepper),
  );

/**
 * The stored form of a credential: HMAC-SHA256 with the instance's pepper. 32 random bytes need no slow hash, and an
 * equality look-up by this value reveals nothing about the credential.
 */
export function hashCredential(credential: string, pepper: Uint8Array): Buffer {
  return createHmac('sha256', pepperKey(pepper)).update(credential).digest();
}

const keys = new WeakMap<Uint8Array, KeyObject>();

/** The pepper as a key. Each request hashes with it: making the key of its bytes would take five times as long as the hash. */
export function pepperKey(pepper: Uint8Array): KeyObject {
  let key = keys.get(pepper);
  if (key === undefined) {
    key = createSecretKey(pepper);
    keys.set(pepper, key);
  }
  return key;
}

/** Characters of a credential that may be shown later, to identify it. */
export const credentialHint = (credential: string): string => credential.slice(0, 8);
