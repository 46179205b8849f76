import type { EventType } from '../../domain/event-types.ts';
import { PLANS_WITH_WEBHOOKS } from '../../domain/plans.ts';
import type { Sql } from '../database.ts';

export interface EventInsert {
  readonly id: string;
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly type: EventType;
  /** The exact text that will be signed and sent. */
  readonly payload: string;
  readonly occurredAt: Date;
  /** Whether endpoints with mailbox scope may hear of it. */
  readonly mailboxScope: boolean;
  /** Ids for its deliveries, in the order of matching endpoints. Should they not suffice, `more` tells the caller. */
  readonly deliveryIds: readonly string[];
}

/**
 * Matching happens here and in `RECORD_ONE` only: active endpoints of a plan with webhooks that subscribed to the type.
 * The lateral join goes by the organization's index; a plain one was seen to walk all endpoints of all organizations.
 */
const MATCHING = /* sql */ `
  select i.position, i.id as event_id, e.id as endpoint_id, e.mailbox_id is not null as own,
         row_number() over (partition by i.position order by e.id) as rank
    from input i
   cross join lateral (
     select id, mailbox_id from webhook_endpoints
      where organization_id = i.organization_id and active and deleted_at is null and i.type = any(event_types)
        and (mailbox_id is null or (i.mailbox_scope and mailbox_id = i.mailbox_id))
        and exists (select 1 from organizations where id = i.organization_id and plan = any($9) offset 0)
     offset 0
   ) e`;

const INPUT = /* sql */ `
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::boolean[])
    with ordinality as i(id, organization_id, mailbox_id, type, payload, occurred_at, mailbox_scope, position)`;

const RECORD = /* sql */ `
  with input as (${INPUT}),
  stored as (
    insert into events (id, organization_id, mailbox_id, type, payload, occurred_at)
    select id, organization_id, mailbox_id, type, payload, occurred_at from input
  ),
  matching as (${MATCHING}),
  created as (
    insert into deliveries (id, event_id, endpoint_id, organization_id, mailbox_id, event_type, created_at)
    select ($8::text[])[(m.position - 1) * $10::int + m.rank], m.event_id, m.endpoint_id, i.organization_id,
           i.mailbox_id, i.type, i.occurred_at
      from matching m join input i using (position)
     where m.rank <= $10::int
    returning 1
  )
  select (select count(*) from created)::int as created,
         coalesce((select max(rank) from matching), 0)::int as most`;

const MORE = /* sql */ `
  with input as (${INPUT}),
  matching as (${MATCHING}),
  created as (
    insert into deliveries (id, event_id, endpoint_id, organization_id, mailbox_id, event_type, created_at)
    select ($8::text[])[(m.position - 1) * $10::int + m.rank], m.event_id, m.endpoint_id, i.organization_id,
           i.mailbox_id, i.type, i.occurred_at
      from matching m join input i using (position)
     where not exists (
       select 1 from deliveries d
        where d.event_id = m.event_id and d.endpoint_id = m.endpoint_id and d.id >= $11 and d.id <= $12
     )
    returning 1
  )
  select (select count(*) from created)::int as created, 0 as most`;

/**
 * The same for a single event. Scalar parameters let PostgreSQL keep one generic plan by the organization's index; of
 * the array form it makes a new plan every time, at twice the cost of running it.
 */
const RECORD_ONE = /* sql */ `
  with stored as (
    insert into events (id, organization_id, mailbox_id, type, payload, occurred_at)
    values ($1, $2, $3, $4, $5, $6)
  ),
  matching as (
    select id, row_number() over (order by id) as rank from webhook_endpoints
     where organization_id = $2 and active and deleted_at is null and $4 = any(event_types)
       and (mailbox_id is null or ($7 and mailbox_id = $3))
       and exists (select from organizations where id = $2 and plan = any($9))
  ),
  created as (
    insert into deliveries (id, event_id, endpoint_id, organization_id, mailbox_id, event_type, created_at)
    select ($8::text[])[rank], $1, id, $2, $3, $4, $6 from matching where rank <= cardinality($8)
    returning 1
  )
  select (select count(*) from created)::int as created,
         coalesce((select max(rank) from matching), 0)::int as most`;

interface Counted {
  created: number;
  most: number;
}

function columns(events: readonly EventInsert[]): unknown[] {
  return [
    events.map((event) => event.id),
    events.map((event) => event.organizationId),
    events.map((event) => event.mailboxId),
    events.map((event) => event.type),
    events.map((event) => event.payload),
    events.map((event) => event.occurredAt.toISOString()),
    events.map((event) => event.mailboxScope),
    events.flatMap((event) => event.deliveryIds),
    PLANS_WITH_WEBHOOKS,
    events[0]?.deliveryIds.length ?? 0,
  ];
}

/**
 * Writes events and one delivery row for each matching endpoint, in one round trip.
 *
 * @param events all with the same number of delivery ids
 * @returns delivery rows written, and the largest number of endpoints an event matched; where that exceeds the ids
 *   given, the rest is written by `recordMoreDeliveries`
 */
export async function recordEventRows(sql: Sql, events: readonly EventInsert[]): Promise<Counted> {
  const [one, ...more] = events;
  if (one !== undefined && more.length === 0) {
    const { id, organizationId, mailboxId, type, payload, occurredAt, mailboxScope, deliveryIds } = one;
    const values = [id, organizationId, mailboxId, type, payload, occurredAt, mailboxScope, deliveryIds];
    const [counted] = await sql.query<Counted>(RECORD_ONE, [...values, PLANS_WITH_WEBHOOKS]);
    return counted ?? { created: 0, most: 0 };
  }
  const [counted] = await sql.query<Counted>(RECORD, columns(events));
  return counted ?? { created: 0, most: 0 };
}

/** Writes the delivery rows that `recordEventRows` had no ids for. Must run in the same transaction. */
export async function recordMoreDeliveries(sql: Sql, events: readonly EventInsert[], from: string, to: string) {
  const [counted] = await sql.query<Counted>(MORE, [...columns(events), from, to]);
  return counted?.created ?? 0;
}
