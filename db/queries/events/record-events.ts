import type { Sql } from '#db/database.ts';
import { PLANS_WITH_WEBHOOKS } from '#domain/organizations/plans.ts';
import { type EventType, SUBSCRIBED_ONLY_TYPES } from '#domain/webhooks/event-types.ts';

export interface EventInsert {
  readonly id: string;
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly type: EventType;
  /** The message it is about; null: none. */
  readonly messageId: string | null;
  /** The exact text that will be signed and sent. */
  readonly payload: string;
  /** JSON of codes and links, for endpoints that ask for them; null: none. */
  readonly extracts: string | null;
  readonly occurredAt: Date;
  /** Whether endpoints with mailbox scope may receive it. */
  readonly mailboxScope: boolean;
  /** Ids for its deliveries, in the order of matching endpoints. If there are too few, `more` says so. */
  readonly deliveryIds: readonly string[];
}

/**
 * Matching happens here and in `RECORD_ONE` only: active endpoints of a plan with webhooks that subscribed to the type.
 * The lateral join goes by the organization's index; a plain one was observed to scan all endpoints of all
 * organizations.
 */
const MATCHING = /* sql */ `
  select i.position, i.id as event_id, e.id as endpoint_id, e.mailbox_id is not null as own,
         e.include_extracts and i.extracts is not null as with_extracts,
         row_number() over (partition by i.position order by e.id) as rank
    from input i
   cross join lateral (
     select id, mailbox_id, include_extracts from webhook_endpoints
      where organization_id = i.organization_id and active and deleted_at is null and i.type = any(event_types)
        and (mailbox_id is null or (i.mailbox_scope and mailbox_id = i.mailbox_id))
        and exists (select 1 from organizations where id = i.organization_id and plan = any($9) offset 0)
     offset 0
   ) e`;

/** Whether an event without a subscriber is recorded. @param type of the event, in SQL */
const recordedAnyway = (type: string) => `${type} <> all ('{${SUBSCRIBED_ONLY_TYPES.join(',')}}'::text[])`;

const INPUT = /* sql */ `
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::boolean[],
                       $11::text[], $12::text[])
    with ordinality as i(id, organization_id, mailbox_id, type, payload, occurred_at, mailbox_scope, message_id, extracts,
                         position)`;

/** The end of both: a row for each pair of event and endpoint that has an id. */
const makeDeliveries = (from: 'matching' | 'missing') => /* sql */ `
  created as (
    insert into deliveries (id, event_id, endpoint_id, organization_id, mailbox_id, event_type, created_at,
                            with_extracts)
    select ($8::text[])[(m.position - 1) * $10::int + m.rank], m.event_id, m.endpoint_id, i.organization_id,
           i.mailbox_id, i.type, i.occurred_at, m.with_extracts
      from ${from} m join input i using (position)
     where m.rank <= $10::int
    returning 1
  )
  select (select count(*) from created)::int as created,
         coalesce((select max(rank) from ${from}), 0)::int as most`;

const RECORD = /* sql */ `
  with input as (${INPUT}),
  matching as (${MATCHING}),
  stored as (
    insert into events (id, organization_id, mailbox_id, type, payload, occurred_at, message_id, extracts)
    select i.id, i.organization_id, i.mailbox_id, i.type, i.payload, i.occurred_at, i.message_id,
           case when m.with_extracts then i.extracts end
      from input i
      left join (select position, bool_or(with_extracts) as with_extracts from matching group by position) m using (position)
     where m.position is not null or ${recordedAnyway('i.type')}
  ),${makeDeliveries('matching')}`;

/** This includes endpoints added since the events were recorded: ranks count the missing ones. */
const MORE = /* sql */ `
  with input as (${INPUT}),
  missing as (
    select m.position, m.event_id, m.endpoint_id, m.with_extracts,
           row_number() over (partition by m.position order by m.endpoint_id) as rank
      from (${MATCHING}) m
     where not exists (
       select 1 from deliveries d
        where d.event_id = m.event_id and d.endpoint_id = m.endpoint_id and d.id >= $13 and d.id <= $14
     )
  ),${makeDeliveries('missing')}`;

/**
 * The same for a single event. Scalar parameters let PostgreSQL keep one generic plan by the organization's index; of
 * the array form it makes a new plan every time, at twice the cost of running it.
 */
const RECORD_ONE = /* sql */ `
  with matching as (
    select id, include_extracts and $11::text is not null as with_extracts, row_number() over (order by id) as rank
      from webhook_endpoints
     where organization_id = $2 and active and deleted_at is null and $4 = any(event_types)
       and (mailbox_id is null or ($7 and mailbox_id = $3))
       and exists (select from organizations where id = $2 and plan = any($9))
  ),
  stored as (
    insert into events (id, organization_id, mailbox_id, type, payload, occurred_at, message_id, extracts)
    select $1, $2, $3, $4, $5, $6, $10, case when exists (select from matching where with_extracts) then $11 end
     where ${recordedAnyway('$4')} or exists (select from matching)
  ),
  created as (
    insert into deliveries (id, event_id, endpoint_id, organization_id, mailbox_id, event_type, created_at,
                            with_extracts)
    select ($8::text[])[rank], $1, id, $2, $3, $4, $6, with_extracts from matching where rank <= cardinality($8)
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
    events.map((event) => event.messageId),
    events.map((event) => event.extracts),
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
    const [counted] = await sql.query<Counted>(RECORD_ONE, [
      ...values,
      PLANS_WITH_WEBHOOKS,
      one.messageId,
      one.extracts,
    ]);
    return counted ?? { created: 0, most: 0 };
  }
  const [counted] = await sql.query<Counted>(RECORD, columns(events));
  return counted ?? { created: 0, most: 0 };
}

/**
 * Writes the delivery rows that `recordEventRows` had no ids for. Must run in the same transaction.
 *
 * @param from the range of delivery ids of these events
 * @returns delivery rows written, and the largest number that an event still lacked; where that exceeds the ids given,
 *   endpoints were added meanwhile, and it is to be called again with new ids
 */
export async function recordMoreDeliveries(
  sql: Sql,
  events: readonly EventInsert[],
  from: string,
  to: string,
): Promise<Counted> {
  const [counted] = await sql.query<Counted>(MORE, [...columns(events), from, to]);
  return counted ?? { created: 0, most: 0 };
}
