import { createHmac, randomBytes, sign } from 'node:crypto';
import { WEBHOOK_SECRET_BYTES, WEBHOOK_SECRET_PREFIX } from '#domain/webhooks/delivery-limits.ts';
import { privateKeyOf } from './webhook-key-pair.ts';

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
  const keys = secrets.map((secret) => Buffer.from(secret.replace(WEBHOOK_SECRET_PREFIX, ''), 'base64'));
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
