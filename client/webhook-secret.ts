/** A request that is not a webhook of this endpoint. Answer it with 400. */
export class WebhookVerificationError extends Error {
  readonly code: 'missing_header' | 'invalid_secret' | 'wrong_time' | 'wrong_signature' | 'invalid_body';

  constructor(code: WebhookVerificationError['code'], message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.code = code;
  }
}

const PREFIX = 'whsec_';
const PUBLIC_KEY_PREFIX = 'whpk_';
const PRIVATE_KEY_PREFIX = 'whsk_';
const PUBLIC_KEY_BYTES = 32;

/** A public key of a JSON Web Key Set; other members are ignored. */
export interface WebhookJwk {
  readonly kty: string;
  readonly crv?: string;
  readonly x?: string;
}

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/**
 * Refuses keys in the place of a secret: with a public key, everybody could sign.
 *
 * @throws {WebhookVerificationError} invalid_secret
 */
export function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const isKey = secret.startsWith(PUBLIC_KEY_PREFIX) || secret.startsWith(PRIVATE_KEY_PREFIX);
  const bytes = isKey ? undefined : bytesOfBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (bytes === undefined || bytes.length === 0)
    throw new WebhookVerificationError('invalid_secret', 'The secret is not one of an endpoint: whsec_… in base64.');
  return bytes;
}

/**
 * The bytes of a public key.
 *
 * @returns undefined: it is a secret
 * @throws {WebhookVerificationError} invalid_secret
 */
export function publicKeyBytes(key: string | WebhookJwk): Uint8Array<ArrayBuffer> | undefined {
  if (typeof key === 'string' && !key.startsWith(PUBLIC_KEY_PREFIX)) return undefined;
  const bytes = typeof key === 'string' ? bytesOfBase64(key.slice(PUBLIC_KEY_PREFIX.length)) : bytesOfJwk(key);
  if (bytes?.length !== PUBLIC_KEY_BYTES)
    throw new WebhookVerificationError('invalid_secret', 'The public key is not one of Ed25519: whpk_…, or a JWK.');
  return bytes;
}

const bytesOfJwk = ({ kty, crv, x }: WebhookJwk): Uint8Array<ArrayBuffer> | undefined =>
  kty === 'OKP' && crv === 'Ed25519' && x !== undefined
    ? bytesOfBase64(x.replaceAll('-', '+').replaceAll('_', '/'))
    : undefined;
