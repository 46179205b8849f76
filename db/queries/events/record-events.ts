import type { Sql } from '#db/database.ts';
import type { DirectLease } from '#db/direct-lease.ts';
import { ENDPOINT_COLUMNS, INLINE_PAYLOAD_BYTES } from '#db/queries/deliveries/attempts.ts';
import type { LaneDelivery } from '#db/queries/deliveries/claim-deliveries.ts';
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
 * Whether a lane takes a delivery at once: not to slow endpoints and of suspended organizations, which a workflow ends,
 * and to none that it passes over. An endpoint of which older deliveries wait is among these.
 */
const takenAtOnce = (lane: string, endpoints: string): string => /* sql */ `
  ${lane}::uuid is not null and coalesce(e.troubled_until <= now(), true) and e.id <> all(${endpoints}::text[])`;

/**
 * Matching happens here and in `RECORD_ONE` only: active endpoints of a plan with webhooks that subscribed to the type.
 * The lateral join goes by the organization's index; a plain one was observed to scan all endpoints of all
 * organizations.
 */
const matching = (direct: boolean): string => /* sql */ `
  select i.position, i.id as event_id, e.id as endpoint_id, e.mailbox_id is not null as own,
         e.include_extracts and i.extracts is not null as with_extracts,
         row_number() over (partition by i.position order by e.id) as rank
         ${
           direct
             ? /* sql */ `, e.plan, ${ENDPOINT_COLUMNS}, e.suspended_at is null and ${takenAtOnce('$13', '$16')}
                            and i.organization_id <> all($17::text[]) as direct`
             : ''
         }
    from input i
   cross join lateral (
     select e.*, o.plan, o.suspended_at
       from (select * from organizations where id = i.organization_id and plan = any($9) offset 0) o
      cross join webhook_endpoints e
      where e.organization_id = i.organization_id and e.active and e.deleted_at is null and i.type = any(e.event_types)
        and (e.mailbox_id is null or (i.mailbox_scope and e.mailbox_id = i.mailbox_id))
     offset 0
   ) e`;

/** Whether an event without a subscriber is recorded. @param type of the event, in SQL */
const recordedAnyway = (type: string) => `${type} <> all ('{${SUBSCRIBED_ONLY_TYPES.join(',')}}'::text[])`;

const INPUT = /* sql */ `
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::boolean[],
                       $11::text[], $12::text[])
    with ordinality as i(id, organization_id, mailbox_id, type, payload, occurred_at, mailbox_scope, message_id, extracts,
                         position)`;

/** What a direct lease writes into the row. @param direct whether the lane takes it, in SQL */
const leaseColumns = (direct: string, lane: string, reservation: string, fanOutId: string): string => /* sql */ `
  case when ${direct} then ${lane}::uuid end, case when ${direct} then ${reservation}::uuid end,
  case when ${direct} then 1 else 0 end, case when ${direct} then ${fanOutId}::text end,
  case when ${direct} then ${fanOutId}::text end`;

/** The answer: a row for each delivery, and at least one. */
const CREATED = /* sql */ `
  d.id, d.number, d.max_attempts as "maxAttempts", d.event_id as "eventId", d.endpoint_id as "endpointId",
  d.event_type as "eventType", d.organization_id as "organizationId", d.mailbox_id as "mailboxId",
  d.with_extracts as "withExtracts", d.fan_out_id as "fanOutId", coalesce(d.leased, false) as leased, m.plan, m.url,
  m."authHeaderName", m."authHeaderValueSealed", m."secretSealed", m."previousSecretSealed", m."signingKeys"`;
const RETURNED = /* sql */ `
  id, attempt_count as number, max_attempts, event_id, endpoint_id, event_type, organization_id, mailbox_id,
  with_extracts, fan_out_id, lease is not null as leased`;

/** A row for each pair of event and endpoint that has an id. */
const makeDeliveries = (from: 'matching' | 'missing') => /* sql */ `
  created as (
    insert into deliveries (id, event_id, endpoint_id, organization_id, mailbox_id, event_type, created_at,
                            with_extracts${from === 'matching' ? ', lease, reservation, attempt_count, fan_out_id, workflow_id' : ''})
    select ($8::text[])[(m.position - 1) * $10::int + m.rank], m.event_id, m.endpoint_id, i.organization_id,
           i.mailbox_id, i.type, i.occurred_at, m.with_extracts
           ${from === 'matching' ? `, ${leaseColumns('m.direct', '$13', '$14', '$15')}` : ''}
      from ${from} m join input i using (position)
     where m.rank <= $10::int
    returning ${from === 'matching' ? RETURNED : '1'}
  )`;

const RECORD = /* sql */ `
  with input as (${INPUT}),
  matching as (${matching(true)}),
  stored as (
    insert into events (id, organization_id, mailbox_id, type, payload, occurred_at, message_id, extracts)
    select i.id, i.organization_id, i.mailbox_id, i.type, i.payload, i.occurred_at, i.message_id,
           case when m.with_extracts then i.extracts end
      from input i
      left join (select position, bool_or(with_extracts) as with_extracts from matching group by position) m using (position)
     where m.position is not null or ${recordedAnyway('i.type')}
  ),${makeDeliveries('matching')}
  select (select coalesce(max(rank), 0) from matching)::int as most, ${CREATED}
    from (select) one
    left join created d on true
    left join matching m on m.event_id = d.event_id and m.endpoint_id = d.endpoint_id and d.leased`;

/** This includes endpoints added since the events were recorded: ranks count the missing ones. */
const MORE = /* sql */ `
  with input as (${INPUT}),
  missing as (
    select m.position, m.event_id, m.endpoint_id, m.with_extracts,
           row_number() over (partition by m.position order by m.endpoint_id) as rank
      from (${matching(false)}) m
     where not exists (
       select 1 from deliveries d
        where d.event_id = m.event_id and d.endpoint_id = m.endpoint_id and d.id >= $13 and d.id <= $14
     )
  ),${makeDeliveries('missing')}
  select (select count(*) from created)::int as created, (select coalesce(max(rank), 0) from missing)::int as most`;

/**
 * The same for a single event. Scalar parameters let PostgreSQL keep one generic plan by the organization's index; of
 * the array form it makes a new plan every time, at twice the cost of running it.
 */
const RECORD_ONE = /* sql */ `
  with matching as (
    select e.id, e.include_extracts and $11::text is not null as with_extracts,
           row_number() over (order by e.id) as rank, o.plan, ${ENDPOINT_COLUMNS},
           o.suspended_at is null and $2 <> all($16::text[]) and ${takenAtOnce('$12', '$15')} as direct
      from organizations o join webhook_endpoints e on e.organization_id = o.id
     where o.id = $2 and o.plan = any($9) and e.organization_id = $2 and e.active and e.deleted_at is null
       and $4 = any(e.event_types) and (e.mailbox_id is null or ($7 and e.mailbox_id = $3))
  ),
  stored as (
    insert into events (id, organization_id, mailbox_id, type, payload, occurred_at, message_id, extracts)
    select $1, $2, $3, $4, $5, $6, $10, case when exists (select from matching where with_extracts) then $11 end
     where ${recordedAnyway('$4')} or exists (select from matching)
  ),
  created as (
    insert into deliveries (id, event_id, endpoint_id, organization_id, mailbox_id, event_type, created_at,
                            with_extracts, lease, reservation, attempt_count, fan_out_id, workflow_id)
    select ($8::text[])[rank], $1, id, $2, $3, $4, $6, with_extracts, ${leaseColumns('direct', '$12', '$13', '$14')}
      from matching where rank <= cardinality($8)
    returning ${RETURNED}
  )
  select (select coalesce(max(rank), 0) from matching)::int as most, ${CREATED}
    from (select) one
    left join created d on true
    left join matching m on m.id = d.endpoint_id and d.leased`;

/** What was written. */
export interface RecordedDeliveries {
  /** Deliveries that a lane has taken at once. */
  readonly leased: readonly LaneDelivery[];
  /** Endpoints of the others. */
  readonly untaken: readonly string[];
  /** The largest number of endpoints that an event matched; where it exceeds the ids given, rows are missing. */
  readonly most: number;
}

/** A row of the answer: without an id, there is no delivery. */
type RecordedRow = Omit<LaneDelivery, 'id' | 'status' | 'payload'> & {
  readonly id: string | null;
  readonly most: number;
};

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
 * @param lease of the lane that takes deliveries at once; undefined: all wait for a claim
 * @returns where an event matched more endpoints than it has ids, the rest is written by `recordMoreDeliveries`
 */
export async function recordEventRows(
  sql: Sql,
  events: readonly EventInsert[],
  lease: DirectLease | undefined,
): Promise<RecordedDeliveries> {
  const { lane = null, reservation = null, fanOutId = null, passedOver } = lease ?? {};
  const leasing = [lane, reservation, fanOutId, passedOver?.endpointIds ?? [], passedOver?.organizationIds ?? []];
  const [one, ...more] = events;
  if (one === undefined || more.length > 0) {
    const values = [...columns(events), ...leasing];
    return recorded(await sql.query<RecordedRow>(RECORD, values), events);
  }
  const { id, organizationId, mailboxId, type, payload, occurredAt, mailboxScope, deliveryIds } = one;
  const values = [id, organizationId, mailboxId, type, payload, occurredAt, mailboxScope, deliveryIds];
  const rows = await sql.query<RecordedRow>(RECORD_ONE, [
    ...values,
    PLANS_WITH_WEBHOOKS,
    one.messageId,
    one.extracts,
    ...leasing,
  ]);
  return recorded(rows, events);
}

function recorded(rows: readonly RecordedRow[], events: readonly EventInsert[]): RecordedDeliveries {
  const leased: LaneDelivery[] = [];
  const untaken: string[] = [];
  for (const { id, most: _, ...row } of rows) {
    if (id === null) continue;
    if (!row.leased) untaken.push(row.endpointId);
    else leased.push({ ...row, id, status: 'pending', payload: row.withExtracts ? null : textOf(row.eventId, events) });
  }
  return { leased, untaken, most: rows[0]?.most ?? 0 };
}

/** The text that is sent without extracts; null: it is large, and read just before sending. */
function textOf(eventId: string, events: readonly EventInsert[]): string | null {
  const payload = events.find(({ id }) => id === eventId)?.payload;
  return payload === undefined || Buffer.byteLength(payload) > INLINE_PAYLOAD_BYTES ? null : payload;
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
