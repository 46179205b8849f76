import { firstIdAt } from '#domain/ids.ts';
import type { DeliveryRow, EventRow, Facts, MadeRow } from './accounting.ts';
import type { Cluster } from './cluster.ts';
import { SERVICE_DATABASE } from './cluster.ts';

/** Prefix of the marks of this run's load. */
const MADE = `
  select 'mailbox' as kind, name as mark, id, 0 as bytes from mailboxes where organization_id = $1 and name like 'load-%'
  union all
  select case origin when 'append' then 'append' else 'inbound' end, m.subject, m.id, m.size
    from message m join mailboxes b on b.id = m.mailbox_id
   where b.organization_id = $1 and m.origin in ('smtp', 'append') and m.subject like 'load-%'
  union all
  select 'send', subject, id, size from outbound_message where organization_id = $1 and subject like 'load-%'`;

const EVENTS = `
  select id, type, coalesce(payload::json -> 'data' ->> 'messageId', payload::json -> 'mailbox' ->> 'id') as "subjectId"
    from events where organization_id = $1 and id >= $2 and type = any($3)`;

const DELIVERIES = `
  select id, event_id as "eventId", endpoint_id as "endpointId", status, attempt_count as attempts
    from deliveries where organization_id = $1`;

/** Everything the accounting needs, from the database and the receivers. */
export async function readFacts({
  postgres,
  subscriber,
  receiver,
  relay,
  ledger,
  loadBeganMs,
}: Cluster): Promise<Facts> {
  const { organizationId, endpoints } = subscriber;
  const types = [...new Set(endpoints.flatMap(({ eventTypes }) => eventTypes))];
  return {
    operations: ledger.operations,
    made: await postgres.query<MadeRow>(SERVICE_DATABASE, MADE, [organizationId]),
    events: await postgres.query<EventRow>(SERVICE_DATABASE, EVENTS, [
      organizationId,
      firstIdAt('event', loadBeganMs),
      types,
    ]),
    deliveries: await postgres.query<DeliveryRow>(SERVICE_DATABASE, DELIVERIES, [organizationId]),
    endpoints,
    receipts: await receiver.call('receipts', undefined),
    relayed: relay.received,
  };
}
