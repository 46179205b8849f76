import { eventPayload } from '#core/events/record-event.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type DeliveryWithPayload, findDelivery } from '#db/queries/deliveries/list-deliveries.ts';
import { requireMailbox } from '#db/queries/mailboxes/require-mailbox.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import {
  type Actor,
  type EnvelopeMailbox,
  type EnvelopeOrganization,
  EVENT_SCOPES,
  type EventType,
} from '#domain/webhooks/event-types.ts';
import { requireSendableEndpoint } from './endpoints/endpoint-queries.ts';

/** The part of an example envelope that does not depend on the organization and the time. */
interface ExampleEvent {
  readonly mailbox: EnvelopeMailbox | null;
  readonly actor: Actor;
  readonly data: object;
  /** What endpoints that ask for codes and links get beside it. */
  readonly extracts?: object;
}

/** An event for one endpoint only, whatever other endpoints subscribed to its type. The ids are of one millisecond. */
const RECORD = /* sql */ `
  with stored as (
    insert into events (id, organization_id, mailbox_id, type, payload, occurred_at) values ($1, $4, $5, $6, $7, $8)
  )
  insert into deliveries (id, event_id, endpoint_id, organization_id, mailbox_id, event_type, created_at)
  values ($2, $1, $3, $4, $5, $6, $8)`;

/**
 * Sends an example event to one endpoint: a real delivery, signed, retried and stored like any other. Its `data` says
 * `test: true`.
 *
 * @param eventType default: the first one the endpoint subscribed to
 * @throws {CatalogueError} not_found, plan_required, conflict (inactive), event_type_not_allowed_for_mailbox
 */
export async function sendTestDelivery(
  services: Services,
  organization: EnvelopeOrganization & { readonly plan: PlanName },
  endpointId: string,
  caller: Caller,
  examples: Readonly<Record<EventType, ExampleEvent>>,
  eventType?: EventType,
): Promise<DeliveryWithPayload> {
  const { db } = services;
  const endpoint = await requireSendableEndpoint(db, organization, endpointId);
  const type = eventType ?? endpoint.eventTypes[0] ?? 'email_received';
  if (endpoint.mailboxId !== null && !EVENT_SCOPES[type].mailbox)
    throw new CatalogueError('event_type_not_allowed_for_mailbox', undefined, {
      details: [{ path: '/eventType', message: `${type} reaches endpoints with organization scope only` }],
      fix: 'Use one of the types in GET /api/webhooks/event-types whose scopes include the mailbox.',
    });
  const example = examples[type];
  const mailbox =
    endpoint.mailboxId === null ? example.mailbox : await requireMailbox(db, organization.id, endpoint.mailboxId);
  const timeMs = services.now();
  const occurredAt = new Date(timeMs);
  const [eventId, deliveryId] = [newId('event', timeMs), newId('delivery', timeMs)];
  const payload = eventPayload({
    id: eventId,
    type,
    occurredAt: occurredAt.toISOString(),
    organization: { id: organization.id, name: organization.name, slug: organization.slug },
    mailbox,
    actor: example.actor,
    data: {
      ...example.data,
      test: true,
      ...(endpoint.includeExtracts && example.extracts !== undefined ? { extracts: example.extracts } : {}),
    },
  });
  await db.transaction(async (sql) => {
    const { mailboxId } = endpoint;
    const organizationId = organization.id;
    await sql.query(RECORD, [eventId, deliveryId, endpointId, organizationId, mailboxId, type, payload, occurredAt]);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'webhook.tested',
      targetId: endpointId,
      details: { deliveryId, eventType: type },
    });
  });
  services.deliveriesDue.wake();
  const delivery = await findDelivery(db, { organizationId: organization.id, endpointId }, deliveryId);
  if (delivery === undefined) throw new CatalogueError('not_found');
  return delivery;
}
