import type { WebhookHost } from '../../n8n-interfaces.ts';
import { findEndpoint, keyOf, knowsSecret, registrationOf, renewSecret } from './endpoint.ts';
import { newSecret } from './new-secrets.ts';

/** Forged requests do not make n8n ask the service more often. */
const ASK_EVERY_MS = 5_000;
const askedAt = new Map<string, number>();

/**
 * After a request that the kept secret does not verify: if the endpoint has another secret, because a person rotated it
 * or n8n has lost it, it gets a new one that is kept. The service sends the delivery again, signed with it.
 */
export async function renewUnknownSecret(host: WebhookHost, nowMs: number = Date.now()): Promise<void> {
  const key = keyOf(host);
  if (nowMs - (askedAt.get(key) ?? 0) < ASK_EVERY_MS) return;
  askedAt.set(key, nowMs);
  const registration = registrationOf(host);
  const endpoint = await findEndpoint(host, registration.endpointId);
  if (endpoint === undefined) return;
  // n8n may not have stored it yet.
  const latest = { ...registration, endpointId: String(endpoint['id']), secret: newSecret(key, nowMs) };
  if (knowsSecret(endpoint, registration) || knowsSecret(endpoint, latest)) return;
  await renewSecret(host, endpoint, registration);
  host.logger.warn(`Agent Mailbox: the secret of the webhook endpoint ${String(endpoint['id'])} was replaced.`);
}
