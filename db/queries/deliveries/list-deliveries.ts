/**
 * Reading deliveries, as their owner sees them.
 *
 * Both tables are partitioned by day through their ids. Each statement carries bounds that spare it the other days: a
 * delivery is never older than its endpoint nor newer than now, a cursor is the id of a delivery, and payloads are read
 * by the bounds of the page. Counts by outcome and hour are read in the index `deliveries_endpoint` alone.
 */
import type { Sql } from '#db/database.ts';
import { firstIdAt, timeOfIdMs } from '#domain/ids.ts';
import type {
  AttemptError,
  AttemptTrigger,
  DeliveryStatus,
  ExhaustedReason,
} from '#domain/webhooks/delivery-status.ts';
import type { EventType } from '#domain/webhooks/event-types.ts';

export interface DeliveryRecord {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly endpointId: string;
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly status: DeliveryStatus;
  readonly reason: ExhaustedReason | null;
  readonly attemptCount: number;
  readonly maxAttempts: number;
  readonly lastError: string | null;
  readonly responseCode: number | null;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  readonly workflowId: string | null;
}

export interface DeliveryWithPayload extends DeliveryRecord {
  /** The JSON text that is signed and sent. */
  readonly payload: string;
}

export interface DeliveryFilter {
  readonly status?: DeliveryStatus;
  readonly eventType?: EventType;
  readonly reason?: ExhaustedReason;
  /** Of the last attempt that got an answer; `null`: none of them did, or there was none. */
  readonly responseCodes?: ResponseCodes | null;
  /** Made at this time or later. */
  readonly since?: Date;
  /** Made before this time. */
  readonly until?: Date;
}

/** Response codes from one to another, both included. */
export interface ResponseCodes {
  readonly from: number;
  readonly to: number;
}

const COLUMNS = /* sql */ `
  id, event_id as "eventId", event_type as "eventType", endpoint_id as "endpointId",
  organization_id as "organizationId", mailbox_id as "mailboxId", status, reason, attempt_count as "attemptCount",
  max_attempts as "maxAttempts", last_error as "lastError", response_code as "responseCode",
  next_attempt_at as "nextAttemptAt", created_at as "createdAt", completed_at as "completedAt",
  workflow_id as "workflowId"`;

/** The index `deliveries_endpoint` contains everything needed: only the rows of the page are read. */
const MATCHING = /* sql */ `
  from deliveries
 where endpoint_id = $1 and id >= $2 and id < $3
   and ($4::text is null or status = $4) and ($5::text is null or event_type = $5)
   and ($6::text is null or reason = $6)
   and ($7::int is null or response_code between $7 and $8) and (not $9::boolean or response_code is null)
   and exists (select from webhook_endpoints where id = $1 and organization_id = $10)`;

const LIST = /* sql */ `
  select ${COLUMNS} from deliveries
   where id = any(array(select id ${MATCHING} order by id desc limit $11 offset $12))
     and id >= $2 and id < $3
   order by id desc`;

const COUNT = /* sql */ `select count(*)::int as count ${MATCHING}`;

/** Ids are made by the clocks of several machines. */
const CLOCKS_APART_MS = 3_600_000;

/** No delivery of the endpoint has a smaller id. */
const firstDeliveryOf = (endpointId: string): string =>
  firstIdAt('delivery', (timeOfIdMs(endpointId) ?? 0) - CLOCKS_APART_MS);

/** Every delivery there is has a smaller id. */
export const afterLastDelivery = (nowMs: number): string => firstIdAt('delivery', nowMs + CLOCKS_APART_MS);

interface OfEndpoint {
  readonly organizationId: string;
  readonly endpointId: string;
}

function matchingValues({ endpointId, organizationId }: OfEndpoint, filter: DeliveryFilter, before: string): unknown[] {
  const { status, eventType, reason, responseCodes, since, until } = filter;
  const from = firstDeliveryOf(endpointId);
  const sinceId = since === undefined ? from : firstIdAt('delivery', since.getTime());
  const untilId = until === undefined ? before : firstIdAt('delivery', until.getTime());
  return [
    endpointId,
    sinceId > from ? sinceId : from,
    untilId < before ? untilId : before,
    status ?? null,
    eventType ?? null,
    reason ?? null,
    responseCodes?.from ?? null,
    responseCodes?.to ?? null,
    responseCodes === null,
    organizationId,
  ];
}

/**
 * Newest first; one more than `limit`, to detect a next page.
 *
 * @param page `after`: id of the last delivery of the previous page; `offset` counts from there
 */
export async function listDeliveries(
  sql: Sql,
  of: OfEndpoint,
  filter: DeliveryFilter,
  page: { readonly limit: number; readonly offset: number; readonly after: string | null },
  nowMs: number,
): Promise<DeliveryWithPayload[]> {
  const matching = matchingValues(of, filter, page.after ?? afterLastDelivery(nowMs));
  const values = [...matching, page.limit + 1, page.offset];
  return withPayloads(sql, await sql.query<DeliveryRecord>(LIST, values));
}

/** Deliveries that match, on all pages together. */
export async function countDeliveries(
  sql: Sql,
  of: OfEndpoint,
  filter: DeliveryFilter,
  nowMs: number,
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(COUNT, matchingValues(of, filter, afterLastDelivery(nowMs)));
  return row?.count ?? 0;
}

export async function findDelivery(
  sql: Sql,
  of: OfEndpoint,
  deliveryId: string,
): Promise<DeliveryWithPayload | undefined> {
  const rows = await sql.query<DeliveryRecord>(
    `select ${COLUMNS} from deliveries where id = $1 and endpoint_id = $2 and organization_id = $3`,
    [deliveryId, of.endpointId, of.organizationId],
  );
  const [delivery] = await withPayloads(sql, rows);
  return delivery;
}

async function withPayloads(sql: Sql, deliveries: readonly DeliveryRecord[]): Promise<DeliveryWithPayload[]> {
  if (deliveries.length === 0) return [];
  const ids = deliveries.map(({ id }) => id).sort();
  const eventIds = deliveries.map(({ eventId }) => eventId).sort();
  const sent = await sql.query<{ id: string; payload: string }>(
    `select d.id, ${sentPayload('d', 'v')} as payload
       from deliveries d join events v on v.id = d.event_id and v.id >= $4 and v.id <= $5
      where d.id = any($1) and d.id >= $2 and d.id <= $3`,
    [ids, ids[0], ids.at(-1), eventIds[0], eventIds.at(-1)],
  );
  const payloads = new Map(sent.map(({ id, payload }) => [id, payload]));
  return deliveries.map((delivery) => ({ ...delivery, payload: payloads.get(delivery.id) ?? '{}' }));
}

export interface AttemptView {
  readonly number: number;
  readonly trigger: AttemptTrigger;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly responseCode: number | null;
  readonly error: AttemptError | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: Buffer | null;
  readonly remoteAddress: string | null;
}

/** Attempts of a delivery, the first one first. */
export const listAttempts = (sql: Sql, deliveryId: string): Promise<AttemptView[]> =>
  sql.query<AttemptView>(
    `select number, trigger, started_at as "startedAt", duration_ms as "durationMs", response_code as "responseCode",
            error, response_headers as "responseHeaders", response_body as "responseBody",
            remote_address as "remoteAddress"
       from delivery_attempts where delivery_id = $1 order by number`,
    [deliveryId],
  );

export type StatusCounts = Readonly<Record<DeliveryStatus, number>>;

export interface HourOfDeliveries {
  /** The full hour, UTC, in which they were made. */
  readonly from: Date;
  readonly counts: StatusCounts;
}

const HOUR_MS = 3_600_000;

/** Ids sort by time: `$4` has the smallest id of each hour but the first. */
const COUNT_BY_HOUR = /* sql */ `
  select width_bucket(id, $4::text[]) as hour, status, count(*)::int as count
    from deliveries
   where endpoint_id = $1 and id >= $2 and id < $3
     and exists (select from webhook_endpoints where id = $1 and organization_id = $5)
   group by hour, status`;

/**
 * The hours until now, oldest first, empty ones included. The newest has just begun.
 *
 * @param hours 1 or more
 */
export async function countByHour(
  sql: Sql,
  { organizationId, endpointId }: { readonly organizationId: string; readonly endpointId: string },
  hours: number,
  nowMs: number,
): Promise<HourOfDeliveries[]> {
  const firstMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS - (hours - 1) * HOUR_MS;
  const starts = Array.from({ length: hours }, (_, hour) => firstMs + hour * HOUR_MS);
  const rows = await sql.query<{ hour: number; status: DeliveryStatus; count: number }>(COUNT_BY_HOUR, [
    endpointId,
    firstIdAt('delivery', firstMs),
    afterLastDelivery(nowMs),
    starts.slice(1).map((startMs) => firstIdAt('delivery', startMs)),
    organizationId,
  ]);
  const counts = starts.map(() => ({ pending: 0, success: 0, failed: 0, exhausted: 0 }));
  for (const { hour, status, count } of rows) {
    const counted = counts[hour];
    if (counted !== undefined) counted[status] += count;
  }
  return starts.map((startMs, hour) => ({
    from: new Date(startMs),
    counts: counts[hour] ?? { pending: 0, success: 0, failed: 0, exhausted: 0 },
  }));
}

/**
 * SQL expression: the text that a delivery sends. It is that of the event; for an endpoint that asked for them, with
 * codes and links as the last field of `data`. An event's text ends with the braces of `data`, which is not empty, and
 * of the envelope.
 *
 * @param delivery alias of the delivery's row
 * @param event alias of the event's row
 */
export const sentPayload = (delivery: string, event: string): string => /* sql */ `
  case when ${delivery}.with_extracts and ${event}.extracts is not null
       then left(${event}.payload, -2) || ',"extracts":' || ${event}.extracts || '}}' else ${event}.payload end`;
