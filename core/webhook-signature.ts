import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { WEBHOOK_SECRET_BYTES, WEBHOOK_SECRET_PREFIX } from '../domain/delivery-limits.ts';

/** A new signing secret in its text form, `whsec_` and base64 (Standard Webhooks 1.0). */
export const newWebhookSecret = (): string =>
  WEBHOOK_SECRET_PREFIX + randomBytes(WEBHOOK_SECRET_BYTES).toString('base64');

/** Characters of a secret that may be shown later, to tell it from another. */
export const webhookSecretHint = (secret: string): string => secret.slice(0, WEBHOOK_SECRET_PREFIX.length + 4);

/** Signs for one endpoint. Made once for its deliveries of a batch. */
export interface WebhookSigner {
  /** Value of `webhook-signature`: one `v1,…` for each secret in force, the newest first, space separated. */
  sign(webhookId: string, timestamp: Date, payload: string): string;
}

export function webhookSigner(secrets: readonly string[]): WebhookSigner {
  const signers = secrets.map((secret) => new Webhook(secret));
  return {
    sign: (webhookId, timestamp, payload) =>
      signers.map((signer) => signer.sign(webhookId, timestamp, payload)).join(' '),
  };
}
