import { createHmac, randomBytes } from 'node:crypto';
import {
  CREDENTIAL_PREFIXES,
  CREDENTIAL_RANDOM_BYTES,
  type CredentialKind,
  credentialChecksum,
} from '../domain/credential-format.ts';

/** A new credential in its full text. It is shown once and never stored. */
export function newCredential(kind: CredentialKind): string {
  const text = CREDENTIAL_PREFIXES[kind] + randomBytes(CREDENTIAL_RANDOM_BYTES).toString('base64url');
  return text + credentialChecksum(text);
}

/**
 * What is stored instead of a credential: HMAC-SHA256 with the instance's pepper. 32 random bytes need no slow hash,
 * and an equality look-up by this value leaks nothing about the credential.
 */
export const hashCredential = (credential: string, pepper: Uint8Array): Buffer =>
  createHmac('sha256', pepper).update(credential).digest();

/** Characters of a credential that may be shown later, to tell it from others. */
export const credentialHint = (credential: string): string => credential.slice(0, 8);
