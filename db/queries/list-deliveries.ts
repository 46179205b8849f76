/**
 * Reading deliveries, as their owner sees them.
 *
 * Both tables are partitioned by day through their ids. Each statement carries bounds that spare it the other days: a
 * delivery is never older than its endpoint nor newer than now, a cursor is the id of a delivery, and payloads are read
 * by the bounds of the page.
 */
import type { AttemptError, AttemptTrigger, DeliveryStatus, ExhaustedReason } from '../../domain/delivery-status.ts';
import type { EventType } from '../../domain/event-types.ts';
import { firstIdAt, timeOfIdMs } from '../../domain/ids.ts';
import type { Sql } from '../database.ts';

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
}

const COLUMNS = /* sql */ `
  id, event_id as "eventId", event_type as "eventType", endpoint_id as "endpointId",
  organization_id as "organizationId", mailbox_id as "mailboxId", status, reason, attempt_count as "attemptCount",
  max_attempts as "maxAttempts", last_error as "lastError", response_code as "responseCode",
  next_attempt_at as "nextAttemptAt", created_at as "createdAt", completed_at as "completedAt",
  workflow_id as "workflowId"`;

const MATCHING = /* sql */ `
  from deliveries
 where endpoint_id = $1 and organization_id = $2 and id >= $3 and id < $4
   and ($5::text is null or status = $5) and ($6::text is null or event_type = $6)`;

const LIST = /* sql */ `
  select ${COLUMNS} ${MATCHING} order by id desc limit $7 offset $8`;

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

const matchingValues = (
  { endpointId, organizationId }: OfEndpoint,
  { status, eventType }: DeliveryFilter,
  before: string,
) => [endpointId, organizationId, firstDeliveryOf(endpointId), before, status ?? null, eventType ?? null];

/**
 * Newest first; one more than `limit`, to tell that there is a next page.
 *
 * @param page `after`: id of the last delivery of the page before; `offset` counts from there
 */
export async function listDeliveries(
  sql: Sql,
  of: OfEndpoint,
  filter: DeliveryFilter,
  page: { readonly limit: number; readonly offset: number; readonly after: string | null },
  nowMs: number,
): Promise<DeliveryWithPayload[]> {
  const matching = matchingValues(of, filter, page.after ?? afterLastDelivery(nowMs));
  return withPayloads(sql, await sql.query<DeliveryRecord>(LIST, [...matching, page.limit + 1, page.offset]));
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
  const ids = [...new Set(deliveries.map(({ eventId }) => eventId))].sort();
  const events = await sql.query<{ id: string; payload: string }>(
    `select id, payload from events where id = any($1) and id >= $2 and id <= $3`,
    [ids, ids[0], ids.at(-1)],
  );
  const payloads = new Map(events.map(({ id, payload }) => [id, payload]));
  return deliveries.map((delivery) => ({ ...delivery, payload: payloads.get(delivery.eventId) ?? '{}' }));
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
