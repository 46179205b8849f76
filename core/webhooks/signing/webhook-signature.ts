/**
 * Signatures of deliveries, after Standard Webhooks 1.0: `v1` with the secret of the endpoint (HMAC-SHA256), `v1a` with
 * the key pair of the organization (Ed25519). The text forms of secrets and keys are those of the standard too.
 */
import {
  createHash,
  createHmac,
  createPrivateKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import {
  WEBHOOK_PRIVATE_KEY_PREFIX,
  WEBHOOK_PUBLIC_KEY_PREFIX,
  WEBHOOK_SECRET_BYTES,
  WEBHOOK_SECRET_PREFIX,
} from '#domain/webhooks/delivery-limits.ts';

/** A new signing secret in its text form, `whsec_` and base64 (Standard Webhooks 1.0). */
export const newWebhookSecret = (): string =>
  WEBHOOK_SECRET_PREFIX + randomBytes(WEBHOOK_SECRET_BYTES).toString('base64');

/** Characters of a secret that may be shown later, to identify it. */
export const webhookSecretHint = (secret: string): string => secret.slice(0, WEBHOOK_SECRET_PREFIX.length + 4);

/** Signs for one endpoint. Made once for its deliveries of a batch. */
export interface WebhookSigner {
  /**
   * Value of `webhook-signature`, space separated: one `v1,…` for each secret in force, then one `v1a,…` for each
   * private key, the newest of each kind first. All sign the same bytes.
   */
  sign(webhookId: string, timestamp: Date, payload: string): string;
}

/**
 * Standard Webhooks 1.0, with the HMAC of Node: that of the library is JavaScript and ten times slower.
 *
 * @param privateKeys `whsk_…`, for endpoints that ask for `v1a` signatures
 */
export function webhookSigner(secrets: readonly string[], privateKeys: readonly string[] = []): WebhookSigner {
  // Made once: Node would make a key object of bytes for each signature, which takes three times as long as signing.
  const keys = secrets.map((secret) =>
    createSecretKey(Buffer.from(secret.replace(WEBHOOK_SECRET_PREFIX, ''), 'base64')),
  );
  const pairs = privateKeys.map(privateKeyOf);
  return {
    sign(webhookId, timestamp, payload) {
      const signed = `${webhookId}.${Math.floor(timestamp.getTime() / 1_000)}.${payload}`;
      return [
        ...keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`),
        ...pairs.map((pair) => `v1a,${sign(null, Buffer.from(signed), pair).toString('base64')}`),
      ].join(' ');
    },
  };
}

export interface WebhookKeyPair {
  /** Thumbprint of the public key (RFC 7638). */
  readonly id: string;
  /** `whpk_` and base64 of its 32 bytes. */
  readonly publicKey: string;
  /** `whsk_` and base64 of the seed and the public key, 64 bytes. */
  readonly privateKey: string;
}

/** A public key in a key set (RFC 7517, RFC 8037). */
export interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

const SEED_BYTES = 32;

export function newWebhookKeyPair(): WebhookKeyPair {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const publicKey = Buffer.from(x, 'base64url');
  return {
    // The members that RFC 8037 requires, in the order of RFC 7638.
    id: createHash('sha256')
      .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
      .digest('base64url'),
    publicKey: WEBHOOK_PUBLIC_KEY_PREFIX + publicKey.toString('base64'),
    privateKey: WEBHOOK_PRIVATE_KEY_PREFIX + Buffer.concat([Buffer.from(d, 'base64url'), publicKey]).toString('base64'),
  };
}

/** @param text `whsk_…` */
export function privateKeyOf(text: string): KeyObject {
  const bytes = Buffer.from(text.slice(WEBHOOK_PRIVATE_KEY_PREFIX.length), 'base64');
  const d = bytes.subarray(0, SEED_BYTES).toString('base64url');
  const x = bytes.subarray(SEED_BYTES).toString('base64url');
  return createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', d, x } });
}

/** @param publicKey `whpk_…` */
export const publicJwk = (kid: string, publicKey: string): PublicJwk => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x: Buffer.from(publicKey.slice(WEBHOOK_PUBLIC_KEY_PREFIX.length), 'base64').toString('base64url'),
  kid,
  use: 'sig',
  alg: 'EdDSA',
});

/** Places under which secrets of endpoints and signing keys are sealed (see `core/platform/secrets/sealed-secrets.ts`). */
export const webhookSecretPlace = (endpointId: string): string => `webhook_endpoints:secret:${endpointId}`;
export const authHeaderPlace = (endpointId: string): string => `webhook_endpoints:auth_header:${endpointId}`;
export const signingKeyPlace = (keyId: string): string => `webhook_signing_key:private_key:${keyId}`;
