/** Events and their deliveries as entries of a timeline. */
import type { EventRow } from '#db/queries/events/activity-search.ts';
import type { DeliveryAttemptRow, DeliveryOfEventRow } from '#db/queries/events/activity-timeline.ts';
import { type ActivityEntry, BARE_ENTRY } from '#domain/webhooks/activity.ts';
import type { ExhaustedReason } from '#domain/webhooks/delivery-status.ts';

const REASONS: Readonly<Record<ExhaustedReason, string>> = {
  attempts_exhausted: 'all attempts failed',
  endpoint_inactive: 'the endpoint was set inactive',
  endpoint_deleted: 'the endpoint was deleted',
  endpoint_gone: 'the endpoint answered 410 Gone',
  plan_downgraded: 'the plan no longer has webhooks',
  unsafe_destination: 'the address was not publicly routable',
  mailbox_deleted: 'the mailbox was deleted',
  organization_suspended: 'the organization was suspended',
};

export function eventEntry(event: EventRow, deliveries: number): ActivityEntry {
  return {
    ...BARE_ENTRY,
    at: event.occurredAt,
    kind: 'event',
    outcome: 'none',
    text: `Event ${event.type}`,
    detail: deliveries === 0 ? 'No webhook subscribed to it.' : null,
    eventId: event.id,
    messageId: event.messageId,
  };
}

/** @param attempts of this delivery */
export function deliveryEntries(
  event: EventRow,
  delivery: DeliveryOfEventRow,
  attempts: readonly DeliveryAttemptRow[],
): ActivityEntry[] {
  const { host } = new URL(delivery.url);
  const bare = {
    ...BARE_ENTRY,
    deliveryId: delivery.id,
    eventId: delivery.eventId,
    endpointId: delivery.endpointDeleted ? null : delivery.endpointId,
    workflowId: delivery.workflowId,
  };
  const entries: ActivityEntry[] = attempts.map((attempt) => {
    const { number, trigger, responseCode, error, durationMs, startedAt } = attempt;
    const came = responseCode === null ? (error ?? 'no answer') : String(responseCode);
    return {
      ...bare,
      at: startedAt,
      kind: 'delivery_attempt',
      outcome: error === null ? 'ok' : 'failed',
      text: `→ ${host} ${came} in ${durationMs} ms`,
      detail: `${event.type} · ${trigger === 'manual' ? `attempt ${number}, by hand` : `attempt ${number} of ${delivery.maxAttempts}`}`,
    };
  });
  if (delivery.status === 'exhausted' && delivery.reason !== null)
    entries.push({
      ...bare,
      at: delivery.completedAt,
      kind: 'delivery_ended',
      outcome: 'failed',
      text: `Delivery to ${host} given up: ${REASONS[delivery.reason]}`,
      detail: delivery.lastError,
    });
  if (delivery.status === 'pending' || delivery.status === 'failed')
    entries.push({
      ...bare,
      at: null,
      kind: 'delivery_waiting',
      outcome: 'waiting',
      text: `→ ${host} ${attempts.length === 0 ? 'first attempt' : 'next attempt'}`,
      detail: event.type,
      dueAt: delivery.nextAttemptAt,
    });
  return entries;
}
