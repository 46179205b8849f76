/**
 * The statements of an attempt, from its reservation to its result.
 *
 * Deliveries and events are partitioned by their ids. The planner cannot derive partitions from an array of ids, so
 * each statement contains the smallest and largest id beside it; without them all days would be searched.
 */
import type { Sql } from '#db/database.ts';
import { signingKeysOf } from '#db/queries/webhooks/signing-keys.ts';
import { ID_PREFIXES } from '#domain/ids.ts';
import { PLANS_WITH_WEBHOOKS } from '#domain/organizations/plans.ts';
import type { DeliveryStatus, ExhaustedReason } from '#domain/webhooks/delivery-status.ts';
import { laneIsDead, NO_LANE } from './lane-life.ts';
import { type AttemptView, sentPayload } from './list-deliveries.ts';

/** What an attempt needs to know, read in the statement that reserves its number. */
export interface ReservedAttempt {
  readonly id: string;
  /** Of this attempt, from 1. */
  readonly number: number;
  readonly maxAttempts: number;
  readonly status: DeliveryStatus;
  readonly endpointId: string;
  readonly eventType: string;
  readonly url: string;
  readonly authHeaderName: string | null;
  readonly authHeaderValueSealed: string | null;
  readonly secretSealed: string;
  /** Null when there is none, or its overlap is over. */
  readonly previousSecretSealed: string | null;
  /** Ids and sealed private keys for `v1a` signatures; null: the endpoint did not ask for them. */
  readonly signingKeys: readonly (readonly string[])[] | null;
  /** Null when it is large: then `eventPayloadOf` reads it just before sending. */
  readonly payload: string | null;
  readonly eventId: string;
  /** It sends the codes and links of the message too. */
  readonly withExtracts: boolean;
}

/** Payloads up to this travel with the reservation, larger ones are read one by one. */
export const INLINE_PAYLOAD_BYTES = 32 * 1024;

/** Whether a lane that lives makes the first attempt of a delivery. */
const IN_A_LANE = /* sql */ `exists (
  select from delivery_lanes l where l.id = d.lease and not ${laneIsDead('l')})`;

/** Of a row `e` of `webhook_endpoints`. */
export const ENDPOINT_COLUMNS = /* sql */ `
  e.url, e.auth_header_name as "authHeaderName", e.auth_header_value_sealed as "authHeaderValueSealed",
  e.secret_sealed as "secretSealed",
  case when e.previous_secret_expires_at > now() then e.previous_secret_sealed end as "previousSecretSealed",
  ${signingKeysOf('e')} as "signingKeys"`;

/** The plan of a row of `organizations` as it counts for deliveries: none while it is suspended. */
export const PLAN_NOW = /* sql */ `case when suspended_at is null then plan end`;

export const RESERVE_COLUMNS = /* sql */ `
  d.id, d.attempt_count as number, d.max_attempts as "maxAttempts", d.status, d.endpoint_id as "endpointId",
  d.event_type as "eventType", ${ENDPOINT_COLUMNS}, d.with_extracts as "withExtracts",
  case when octet_length(v.payload) <= ${INLINE_PAYLOAD_BYTES} then ${sentPayload('d', 'v')} end as payload,
  v.id as "eventId"`;

/**
 * A reservation that is repeated, because the answer to it was lost, finds its own mark and takes no further number.
 * The statement is planned once for all values. `offset 0` makes the planner start from the given ids by primary keys.
 * Otherwise it may start from endpoints and read all their open deliveries, a hundred thousand, or all events of a time.
 */
const RESERVE_FROM = /* sql */ `
  update deliveries d
     set attempt_count = d.attempt_count + case when d.reservation = $7::uuid then 0 else 1 end, reservation = $7::uuid,
         lease = ${NO_LANE}
    from (select id, endpoint_id, organization_id, event_id from deliveries
           where id = any($1) and id >= $2 and id <= $3 offset 0) given
    cross join lateral (select * from webhook_endpoints where id = given.endpoint_id offset 0) e
    cross join lateral (select id, ${PLAN_NOW} as plan from organizations where id = given.organization_id offset 0) o
    cross join lateral (select id, payload, extracts from events where id = given.event_id and id >= $4 and id <= $5 offset 0) v
   where d.id = given.id and d.id = any($1) and d.id >= $2 and d.id <= $3
     and e.active and e.deleted_at is null and o.plan = any($6)`;

/** Row truth of every automatic attempt: in no lane, due, attempts left, endpoint active, plan with webhooks. */
const RESERVE = /* sql */ `${RESERVE_FROM}
     and d.status in ('pending', 'failed') and (d.attempt_count < d.max_attempts or d.reservation = $7::uuid)
     and (d.next_attempt_at is null or d.next_attempt_at <= $8) and ($9 or not ${IN_A_LANE})
  returning ${RESERVE_COLUMNS}`;

const RESERVE_MANUAL = /* sql */ `${RESERVE_FROM}
  returning ${RESERVE_COLUMNS}`;

/** Keeps the workflow that waits for the retry from making it meanwhile. */
const RECOVERY_HOLD = /* sql */ `interval '60 seconds'`;

const RESERVE_RECOVERY = /* sql */ `${RESERVE_FROM.replace(
  'reservation = $7::uuid,\n',
  `reservation = $7::uuid,
         next_attempt_at = case when d.status = 'failed' then greatest(d.next_attempt_at, now() + ${RECOVERY_HOLD}) end,\n`,
)}
     and (d.status = 'exhausted' or d.status = 'failed' and d.next_attempt_at > now())
  returning ${RESERVE_COLUMNS}`;

const TIME_END = ID_PREFIXES.delivery.length + 10;

/** Smallest and largest of ids, and the range of event ids made in the same milliseconds. */
function ranges(ids: readonly string[]): [string, string, string, string] {
  let [low, high] = [ids[0] ?? '', ids[0] ?? ''];
  for (const id of ids) {
    if (id < low) low = id;
    if (id > high) high = id;
  }
  const eventAt = (id: string) => ID_PREFIXES.event + id.slice(ID_PREFIXES.delivery.length, TIME_END);
  return [low, high, eventAt(low), `${eventAt(high)}~`];
}

/**
 * Reserves the next attempt number of deliveries that may be attempted now, so that five stays the maximum also after
 * crashes. Deliveries it does not return must not be sent: see `settleUnattempted`.
 *
 * @param reservation a new UUID; repeating it with the same one, after a lost answer, reserves nothing more
 * @param againstLeases also what a lane has taken, because that lane seems to have lost it
 */
export function reserveAttempts(
  sql: Sql,
  ids: readonly string[],
  reservation: string,
  now: Date,
  againstLeases = false,
): Promise<ReservedAttempt[]> {
  const values = [ids, ...ranges(ids), PLANS_WITH_WEBHOOKS, reservation, now, againstLeases];
  return sql.query<ReservedAttempt>(RESERVE, values);
}

/** A delivery that is not final, as its workflow finds it. */
export interface CarriedDelivery {
  readonly id: string;
  /** The living lane that makes its first attempt; null: none. */
  readonly lane: string | null;
  /** It has no result yet; false: it failed. */
  readonly pending: boolean;
}

const CARRIED = /* sql */ `
  select d.id, case when ${IN_A_LANE} then d.lease end as lane, d.status = 'pending' as pending
    from deliveries d
   where d.id = any($1) and d.id >= $2 and d.id <= $3 and d.status in ('pending', 'failed')`;

/** Those of the deliveries that are not final. */
export function carriedDeliveries(sql: Sql, ids: readonly string[]): Promise<CarriedDelivery[]> {
  const [low, high] = ranges(ids);
  return sql.query<CarriedDelivery>(CARRIED, [ids, low, high]);
}

/** As `reserveAttempts`, for a person's resend: due or not, final or not. */
export function reserveManualAttempts(
  sql: Sql,
  ids: readonly string[],
  reservation: string,
): Promise<ReservedAttempt[]> {
  return sql.query<ReservedAttempt>(RESERVE_MANUAL, [ids, ...ranges(ids), PLANS_WITH_WEBHOOKS, reservation]);
}

/** As `reserveAttempts`, for a recovery: given up, or waiting for a retry that is not due yet. */
export function reserveRecoveryAttempts(
  sql: Sql,
  ids: readonly string[],
  reservation: string,
): Promise<ReservedAttempt[]> {
  return sql.query<ReservedAttempt>(RESERVE_RECOVERY, [ids, ...ranges(ids), PLANS_WITH_WEBHOOKS, reservation]);
}

/** The text that a delivery of an event sends, for payloads too large to travel with the reservation. */
export async function eventPayloadOf(
  sql: Sql,
  { eventId, withExtracts }: Pick<ReservedAttempt, 'eventId' | 'withExtracts'>,
): Promise<string | undefined> {
  const [row] = await sql.query<{ payload: string }>(
    `select ${sentPayload('d', 'v')} as payload from events v, (select $2::boolean as with_extracts) d where v.id = $1`,
    [eventId, withExtracts],
  );
  return row?.payload;
}

export interface AttemptRecord extends AttemptView {
  readonly deliveryId: string;
  /** State of the delivery after it. */
  readonly status: DeliveryStatus;
  readonly reason: ExhaustedReason | null;
  /** For people; null after a success. */
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
  /** Workflow that processes the delivery from now on; null: as before. */
  readonly workflowId: string | null;
}

/**
 * A final delivery stays final, and a later attempt that started meanwhile overrides a failure: the late result of an
 * attempt thought lost only adds its row. But a delivery that was given up because its last result seemed lost becomes
 * a success if that result, an acknowledgement, arrives. The status is tested by a CASE because the planner, seeing
 * that most rows are final, would expect one row of a plain comparison and choose a nested loop over the whole range.
 */
const RECORD = /* sql */ `
  with r as (
    select * from unnest($1::text[], $2::smallint[], $3::text[], $4::timestamptz[], $5::int[], $6::smallint[],
      $7::text[], $8::jsonb[], $9::bytea[], $10::text[], $11::text[], $12::text[], $13::text[], $14::timestamptz[],
      $15::text[])
      as r(delivery_id, number, trigger, started_at, duration_ms, response_code, error, response_headers,
           response_body, remote_address, status, reason, last_error, next_attempt_at, workflow_id)
  ),
  attempts as (
    insert into delivery_attempts (delivery_id, number, trigger, started_at, duration_ms, response_code, error,
      response_headers, response_body, remote_address)
    select delivery_id, number, trigger, started_at, duration_ms, response_code, error, response_headers,
           response_body, remote_address from r
    on conflict do nothing
  )
  update deliveries d
     set status = r.status, reason = r.reason, last_error = r.last_error, response_code = r.response_code,
         next_attempt_at = r.next_attempt_at,
         workflow_id = case when d.workflow_id = d.fan_out_id then coalesce(r.workflow_id, d.workflow_id) else d.workflow_id end,
         completed_at = case when r.status in ('success', 'exhausted') then now() end, lease = ${NO_LANE}
    from r
   where d.id = r.delivery_id and d.id = any($1) and d.id >= $16 and d.id <= $17
     and case d.status when 'success' then false
         when 'exhausted' then r.trigger = 'manual'
           or r.status = 'success' and d.reason = 'attempts_exhausted' and d.attempt_count >= d.max_attempts
         else r.status = 'success' or r.number >= d.attempt_count end`;

/**
 * Writes attempts and the new state of their deliveries, all or none, in one round trip. Repeated, it does nothing
 * further.
 */
export async function recordAttempts(sql: Sql, records: readonly AttemptRecord[]): Promise<void> {
  const [low, high] = ranges(records.map(({ deliveryId }) => deliveryId));
  await sql.query(RECORD, [
    records.map((r) => r.deliveryId),
    records.map((r) => r.number),
    records.map((r) => r.trigger),
    records.map((r) => r.startedAt.toISOString()),
    records.map((r) => r.durationMs),
    records.map((r) => r.responseCode),
    records.map((r) => r.error),
    records.map((r) => (r.responseHeaders === null ? null : JSON.stringify(r.responseHeaders))),
    records.map((r) => r.responseBody),
    records.map((r) => r.remoteAddress),
    records.map((r) => r.status),
    records.map((r) => r.reason),
    records.map((r) => r.lastError),
    records.map((r) => r.nextAttemptAt?.toISOString() ?? null),
    records.map((r) => r.workflowId),
    low,
    high,
  ]);
}

/** Not if a later number was reserved meanwhile: that one is in use. The mark is removed, so this happens once. */
const RELEASE = /* sql */ `
  update deliveries d set attempt_count = d.attempt_count - 1, reservation = null, lease = ${NO_LANE}
    from unnest($1::text[], $2::uuid[]) as unused(id, reservation)
   where d.id = unused.id and d.id = any($1) and d.id >= $3 and d.id <= $4 and d.reservation = unused.reservation`;

/** Releases reserved numbers under which nothing was sent. What a lane had taken is left to a workflow. */
export async function releaseAttempts(
  sql: Sql,
  unused: readonly { readonly id: string; readonly reservation: string }[],
): Promise<void> {
  const ids = unused.map(({ id }) => id);
  const [low, high] = ranges(ids);
  await sql.query(RELEASE, [ids, unused.map(({ reservation }) => reservation), low, high]);
}

/** A delivery that still needs an attempt. */
export interface OpenDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly nextAttemptAt: Date | null;
}

/** The first reason that applies, with the names of interface §3. */
const STOP_REASON = /* sql */ `
  case when e.id is null then 'endpoint_deleted'
       when m.deleted_at is not null then 'mailbox_deleted'
       when e.deleted_at is not null then 'endpoint_deleted'
       when not e.active and e.disabled_reason = 'gone' then 'endpoint_gone'
       when not e.active then 'endpoint_inactive'
       when o.suspended_at is not null then 'organization_suspended'
       when o.plan is null or not (o.plan = any($4)) then 'plan_downgraded'
       when d.attempt_count >= d.max_attempts then 'attempts_exhausted' end`;

/** The workflow that processes a delivery from now on. */
const NEXT_WORKFLOW = /* sql */ `$5::text || case when $5::text = '' then '' else d.endpoint_id end || $6::text`;

const SETTLE = /* sql */ `
  with checked as (
    select d.id, d.endpoint_id, d.organization_id, d.mailbox_id, d.next_attempt_at, ${STOP_REASON} as reason
      from deliveries d
      left join webhook_endpoints e on e.id = d.endpoint_id
      left join mailboxes m on m.id = e.mailbox_id
      left join organizations o on o.id = d.organization_id
     where d.id = any($1) and d.id >= $2 and d.id <= $3 and d.status in ('pending', 'failed')
       and d.workflow_id in ($7::text, ${NEXT_WORKFLOW})
  ),
  stopped as (
    update deliveries d
       set status = 'exhausted', reason = j.reason, completed_at = now(), next_attempt_at = null
      from checked j
     where d.id = j.id and d.id >= $2 and d.id <= $3 and d.status in ('pending', 'failed') and j.reason is not null
  ),
  assigned as (
    update deliveries d set workflow_id = ${NEXT_WORKFLOW}
      from checked j
     where d.id = j.id and d.id >= $2 and d.id <= $3 and j.reason is null
       and d.workflow_id is distinct from ${NEXT_WORKFLOW}
  )
  select id, endpoint_id as "endpointId", organization_id as "organizationId", mailbox_id as "mailboxId",
         next_attempt_at as "nextAttemptAt"
    from checked where reason is null`;

/**
 * Ends deliveries that may not be sent any more, with their reason and without a request, and returns those that still
 * need an attempt. Deliveries whose rows name another workflow are left to it.
 *
 * @param workflowId the workflow that attempted them
 * @param next the workflow that processes the rest: its id is `prefix + endpoint id + suffix`, or just `suffix` when
 *   the prefix is empty
 */
export function settleUnattempted(
  sql: Sql,
  ids: readonly string[],
  workflowId: string,
  next: { readonly prefix: string; readonly suffix: string },
): Promise<OpenDelivery[]> {
  const [low, high] = ranges(ids);
  const values = [ids, low, high, PLANS_WITH_WEBHOOKS, next.prefix, next.suffix, workflowId];
  return sql.query<OpenDelivery>(SETTLE, values);
}

/** The data of an endpoint that an attempt needs. */
export type SendableEndpoint = Pick<
  ReservedAttempt,
  'url' | 'authHeaderName' | 'authHeaderValueSealed' | 'secretSealed' | 'previousSecretSealed' | 'signingKeys'
>;

const SENDABLE = /* sql */ `
  select ${ENDPOINT_COLUMNS}
    from webhook_endpoints e join organizations o on o.id = e.organization_id
   where e.id = $1 and e.active and e.deleted_at is null and o.suspended_at is null and o.plan = any($2)`;

/** The current endpoint; undefined if it is inactive or deleted, or its organization's plan has no webhooks. */
export async function sendableEndpoint(sql: Sql, endpointId: string): Promise<SendableEndpoint | undefined> {
  const [endpoint] = await sql.query<SendableEndpoint>(SENDABLE, [endpointId, PLANS_WITH_WEBHOOKS]);
  return endpoint;
}
