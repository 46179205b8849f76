/** Headers of a webhook signed like one of the service (https://www.standardwebhooks.com), to test a receiver with. */
import { secretBytes } from './webhook-secret.ts';

/**
 * @param id `webhook-id`
 * @param body exactly as it will be sent
 * @param secret `whsec_…`
 * @throws {WebhookVerificationError} invalid_secret
 */
export async function signWebhook(
  id: string,
  body: string,
  secret: string,
  at: Date = new Date(),
): Promise<Readonly<Record<string, string>>> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secretBytes(secret), algorithm, false, ['sign']);
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`,
  };
}
