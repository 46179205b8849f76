/** Ed25519 keys for `v1a` signatures in the text forms of Standard Webhooks 1.0. */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { WEBHOOK_PRIVATE_KEY_PREFIX, WEBHOOK_PUBLIC_KEY_PREFIX } from '#domain/webhooks/delivery-limits.ts';

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
