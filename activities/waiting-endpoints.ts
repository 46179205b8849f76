import type { OpenDelivery } from '#db/queries/deliveries/attempts.ts';
import type { WaitingEndpoint } from '#domain/webhooks/delivery-workflows.ts';

/**
 * Deliveries that still need an attempt, by endpoint.
 *
 * @param nowMs when those without a time are due, in milliseconds since 1970
 * @param notBeforeMs the least time for all of them
 */
export function waitingByEndpoint(
  open: readonly OpenDelivery[],
  nowMs: number,
  notBeforeMs: number,
): readonly WaitingEndpoint[] {
  const endpoints = new Map<string, WaitingEndpoint & { deliveries: { id: string; dueAtMs: number }[] }>();
  for (const delivery of open) {
    let endpoint = endpoints.get(delivery.endpointId);
    if (endpoint === undefined) {
      const { endpointId, organizationId, mailboxId } = delivery;
      endpoint = { endpointId, organizationId, mailboxId, deliveries: [] };
      endpoints.set(endpointId, endpoint);
    }
    const dueAtMs = delivery.nextAttemptAt?.getTime() ?? nowMs;
    endpoint.deliveries.push({ id: delivery.id, dueAtMs: Math.max(dueAtMs, notBeforeMs) });
  }
  return [...endpoints.values()];
}
