/** Endpoints as they are read: for their owner, with counts of deliveries, and whether something may be sent to one. */
import type { Sql } from '#db/database.ts';
import { afterLastDelivery } from '#db/queries/deliveries/list-deliveries.ts';
import { CatalogueError } from '#domain/errors.ts';
import { firstIdAt } from '#domain/ids.ts';
import { type PlanName, requireWebhookPlan } from '#domain/organizations/plans.ts';
import type { DeliveryStatus, DisabledReason } from '#domain/webhooks/delivery-status.ts';
import type { EventType } from '#domain/webhooks/event-types.ts';

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
  /** Until then attempts carry the signature of the secret before this one too; null: they do not. */
  readonly previousSecretExpiresAt: Date | null;
  /** Deliveries have `v1a` signatures too. */
  readonly publicKeySignature: boolean;
  /** Events of received mail have its codes and links. */
  readonly includeExtracts: boolean;
  /** Creation of the oldest delivery of the last 24 hours that waits for an attempt; null: no delivery waits. */
  readonly oldestWaitingAt: Date | null;
  /** Deliveries of the last 24 hours by status. */
  readonly last24h: Readonly<Record<DeliveryStatus, number>>;
}

type EndpointRow = Omit<EndpointView, 'last24h' | 'oldestWaitingAt'>;

const SELECT = /* sql */ `
  select id, url, event_types as "eventTypes", mailbox_id as "mailboxId", description, active,
         auth_header_name as "authHeaderName", disabled_reason as "disabledReason", secret_prefix as "secretPrefix",
         created_at as "createdAt", updated_at as "updatedAt", last_success_at as "lastSuccessAt",
         failing_since as "failingSince",
         case when previous_secret_expires_at > now() then previous_secret_expires_at end as "previousSecretExpiresAt",
         public_key_signature as "publicKeySignature", include_extracts as "includeExtracts"
    from webhook_endpoints
   where organization_id = $1 and deleted_at is null`;

/** Ids are ordered by time, so the bounds limit the query to two or three days' partitions. */
const COUNTS = /* sql */ `
  select endpoint_id as "endpointId", status, count(*)::int as count
    from deliveries where endpoint_id = any($1) and id >= $2 and id < $3
   group by endpoint_id, status`;

/** By the index of open deliveries, of which an endpoint has few. */
const OLDEST_WAITING = /* sql */ `
  select endpoint_id as "endpointId", min(created_at) as "at"
    from deliveries where endpoint_id = any($1) and status in ('pending', 'failed') and id >= $2 and id < $3
   group by endpoint_id`;

const DAY_MS = 86_400_000;
const NO_DELIVERIES: Readonly<Record<DeliveryStatus, number>> = { pending: 0, success: 0, failed: 0, exhausted: 0 };

async function withCounts(sql: Sql, rows: readonly EndpointRow[], nowMs: number): Promise<EndpointView[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const [start, end] = [firstIdAt('delivery', nowMs - DAY_MS), afterLastDelivery(nowMs)];
  const [counts, oldest] = await Promise.all([
    sql.query<{ endpointId: string; status: DeliveryStatus; count: number }>(COUNTS, [ids, start, end]),
    sql.query<{ endpointId: string; at: Date }>(OLDEST_WAITING, [ids, start, end]),
  ]);
  const waitingSince = new Map(oldest.map(({ endpointId, at }) => [endpointId, at]));
  const byEndpoint = new Map<string, Record<DeliveryStatus, number>>();
  for (const { endpointId, status, count } of counts) {
    const counted = byEndpoint.get(endpointId) ?? { ...NO_DELIVERIES };
    counted[status] = count;
    byEndpoint.set(endpointId, counted);
  }
  return rows.map((row) => ({
    ...row,
    oldestWaitingAt: waitingSince.get(row.id) ?? null,
    last24h: byEndpoint.get(row.id) ?? NO_DELIVERIES,
  }));
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

/** Newest first; one more than `limit`, to detect a next page. */
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

type EndpointState = Pick<EndpointView, 'mailboxId' | 'active' | 'eventTypes' | 'includeExtracts'>;

const EXISTS = /* sql */ `
  select mailbox_id as "mailboxId", active, event_types as "eventTypes", include_extracts as "includeExtracts"
    from webhook_endpoints where organization_id = $1 and id = $2 and deleted_at is null`;

/** The state that decides what may be done with an endpoint. @throws {CatalogueError} not_found */
export async function requireEndpoint(sql: Sql, organizationId: string, endpointId: string): Promise<EndpointState> {
  const [row] = await sql.query<EndpointState>(EXISTS, [organizationId, endpointId]);
  if (row === undefined) throw new CatalogueError('not_found');
  return row;
}

/**
 * An endpoint that may receive requests now: a manual attempt follows the same rules as an automatic one.
 *
 * @throws {CatalogueError} not_found, plan_required, conflict (inactive)
 */
export async function requireSendableEndpoint(
  sql: Sql,
  organization: { readonly id: string; readonly plan: PlanName },
  endpointId: string,
): Promise<Pick<EndpointView, 'mailboxId' | 'eventTypes' | 'includeExtracts'>> {
  const endpoint = await requireEndpoint(sql, organization.id, endpointId);
  requireWebhookPlan(organization.plan);
  if (!endpoint.active)
    throw new CatalogueError('conflict', 'The endpoint is inactive, so nothing is sent to it.', {
      fix: 'Set it active first: PATCH /api/webhooks/:id {"active": true}; disabledReason says why it is not.',
    });
  return endpoint;
}
