import type { Sql } from '../db/database.ts';
import { afterLastDelivery } from '../db/queries/list-deliveries.ts';
import type { DeliveryStatus, DisabledReason } from '../domain/delivery-status.ts';
import { CatalogueError } from '../domain/errors.ts';
import type { EventType } from '../domain/event-types.ts';
import { firstIdAt } from '../domain/ids.ts';

/** A webhook endpoint as its owner may see it: nothing secret is read at all. */
export interface EndpointView {
  readonly id: string;
  readonly url: string;
  readonly eventTypes: readonly EventType[];
  /** Null: organization scope. */
  readonly mailboxId: string | null;
  readonly description: string | null;
  readonly active: boolean;
  readonly authHeaderName: string | null;
  readonly disabledReason: DisabledReason | null;
  readonly secretPrefix: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastSuccessAt: Date | null;
  readonly failingSince: Date | null;
  /** Deliveries of the last 24 hours by status. */
  readonly last24h: Readonly<Record<DeliveryStatus, number>>;
}

type EndpointRow = Omit<EndpointView, 'last24h'>;

const SELECT = /* sql */ `
  select id, url, event_types as "eventTypes", mailbox_id as "mailboxId", description, active,
         auth_header_name as "authHeaderName", disabled_reason as "disabledReason", secret_prefix as "secretPrefix",
         created_at as "createdAt", updated_at as "updatedAt", last_success_at as "lastSuccessAt",
         failing_since as "failingSince"
    from webhook_endpoints
   where organization_id = $1 and deleted_at is null`;

/** Ids are ordered by time, so the bounds leave two or three days' partitions to look into. */
const COUNTS = /* sql */ `
  select endpoint_id as "endpointId", status, count(*)::int as count
    from deliveries where endpoint_id = any($1) and id >= $2 and id < $3
   group by endpoint_id, status`;

const DAY_MS = 86_400_000;
const NO_DELIVERIES: Readonly<Record<DeliveryStatus, number>> = { pending: 0, success: 0, failed: 0, exhausted: 0 };

async function withCounts(sql: Sql, rows: readonly EndpointRow[], nowMs: number): Promise<EndpointView[]> {
  if (rows.length === 0) return [];
  const counts = await sql.query<{ endpointId: string; status: DeliveryStatus; count: number }>(COUNTS, [
    rows.map(({ id }) => id),
    firstIdAt('delivery', nowMs - DAY_MS),
    afterLastDelivery(nowMs),
  ]);
  const byEndpoint = new Map<string, Record<DeliveryStatus, number>>();
  for (const { endpointId, status, count } of counts) {
    const counted = byEndpoint.get(endpointId) ?? { ...NO_DELIVERIES };
    counted[status] = count;
    byEndpoint.set(endpointId, counted);
  }
  return rows.map((row) => ({ ...row, last24h: byEndpoint.get(row.id) ?? NO_DELIVERIES }));
}

/** @throws {CatalogueError} not_found */
export async function getEndpoint(
  sql: Sql,
  organizationId: string,
  endpointId: string,
  nowMs: number,
): Promise<EndpointView> {
  const rows = await sql.query<EndpointRow>(`${SELECT} and id = $2`, [organizationId, endpointId]);
  const [endpoint] = await withCounts(sql, rows, nowMs);
  if (endpoint === undefined) throw new CatalogueError('not_found');
  return endpoint;
}

const LIST = /* sql */ `${SELECT}
    and ($2::text is null or id < $2)
    and ($3::text is null or mailbox_id = $3)
  order by id desc limit $4`;

/** Newest first; one more than `limit`, to tell that there is a next page. */
export async function listEndpoints(
  sql: Sql,
  organizationId: string,
  filter: { readonly mailboxId?: string },
  page: { readonly limit: number; readonly after: string | null },
  nowMs: number,
): Promise<EndpointView[]> {
  const values = [organizationId, page.after, filter.mailboxId ?? null, page.limit + 1];
  return withCounts(sql, await sql.query<EndpointRow>(LIST, values), nowMs);
}

const EXISTS = /* sql */ `
  select mailbox_id as "mailboxId", active, event_types as "eventTypes"
    from webhook_endpoints where organization_id = $1 and id = $2 and deleted_at is null`;

/** What decides whether something may be done with an endpoint. @throws {CatalogueError} not_found */
export async function requireEndpoint(
  sql: Sql,
  organizationId: string,
  endpointId: string,
): Promise<Pick<EndpointView, 'mailboxId' | 'active' | 'eventTypes'>> {
  const [row] = await sql.query<Pick<EndpointView, 'mailboxId' | 'active' | 'eventTypes'>>(EXISTS, [
    organizationId,
    endpointId,
  ]);
  if (row === undefined) throw new CatalogueError('not_found');
  return row;
}
