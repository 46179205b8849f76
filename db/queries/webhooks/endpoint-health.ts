import type { Sql } from '#db/database.ts';
import { noteChange } from '#db/queries/organizations/note-change.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { DisabledReason } from '#domain/webhooks/delivery-status.ts';
import { FAILING_AFTER_MS, FAILING_EXHAUSTED_MIN } from '#domain/webhooks/endpoint-limits.ts';

/** Locks in one order, so that two workers that note the same endpoints never wait for each other in a circle. */
const IN_ORDER = /* sql */ `select id from webhook_endpoints where id = any($1) order by id for no key update`;

/** Notes that endpoints acknowledged a delivery. Called seldom, so that a busy endpoint's row is not a hot spot. */
export async function noteEndpointSuccess(sql: Sql, endpointIds: readonly string[], now: Date): Promise<void> {
  await sql.query(
    `with locked as (
       select id, last_success_at is null as is_first from webhook_endpoints
        where id = any($1) order by id for no key update
     ), changed as (
       update webhook_endpoints e set last_success_at = $2, failing_since = null from locked where e.id = locked.id
       returning e.organization_id, e.id, locked.is_first
     ), first as (select organization_id, id from changed where is_first)
     ${noteChange('endpoint', 'first', 'id')}`,
    [endpointIds, now],
  );
}

/** Notes since when endpoints acknowledge nothing. */
export async function noteEndpointFailure(sql: Sql, endpointIds: readonly string[], now: Date): Promise<void> {
  await sql.query(
    `with locked as (${IN_ORDER})
     update webhook_endpoints e set failing_since = $2 from locked
      where e.id = locked.id and e.failing_since is null`,
    [endpointIds, now],
  );
}

/** Notes that endpoints are slow, for so long. */
export async function noteEndpointTrouble(sql: Sql, endpointIds: readonly string[], forMs: number): Promise<void> {
  await sql.query(
    `with locked as (${IN_ORDER})
     update webhook_endpoints e set troubled_until = now() + make_interval(secs => $2::float / 1000)
       from locked where e.id = locked.id`,
    [endpointIds, forMs],
  );
}

const DISABLE_GONE = /* sql */ `
  update webhook_endpoints e set active = false, disabled_reason = 'gone', updated_at = now()
   where e.id = $1 and e.url = $2 and e.active and e.deleted_at is null
     and (select count(*) >= max(d.max_attempts) and bool_and(coalesce(a.response_code = 410, false))
            and (e.url_changed_at is null or e.url_changed_at < min(a.started_at))
            from delivery_attempts a join deliveries d on d.id = a.delivery_id
           where a.delivery_id = $3)
  returning e.id`;

/**
 * Sets an endpoint inactive if every attempt of one delivery was answered with 410 Gone by its current address.
 * @returns whether this call did it
 */
export async function disableGoneEndpoint(
  sql: Sql,
  endpointId: string,
  url: string,
  deliveryId: string,
): Promise<boolean> {
  const rows = await sql.query(DISABLE_GONE, [endpointId, url, deliveryId]);
  return rows.length > 0;
}

/** An endpoint that has failed for so long that it should be set inactive. */
export interface FailingEndpoint {
  readonly id: string;
  readonly url: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly failingSince: Date;
  /** Deliveries that were given up since then. */
  readonly deliveries: number;
  /** Creation of the oldest of them. */
  readonly since: Date;
  readonly lastError: string | null;
}

/**
 * Only deliveries of endpoints that have failed for long are searched. Their rows are also checked for a success,
 * because the time at the endpoint is updated rarely.
 */
const FAILING = /* sql */ `
  select e.id, e.url, e.organization_id as "organizationId", o.name as "organizationName",
         e.failing_since as "failingSince", d.exhausted as deliveries, d.since, d.last_error as "lastError"
    from webhook_endpoints e
    join organizations o on o.id = e.organization_id
   cross join lateral (
     select count(*) filter (where status = 'exhausted')::int as exhausted,
            count(*) filter (where status = 'success')::int as succeeded,
            min(created_at) filter (where status = 'exhausted') as since,
            (array_agg(last_error order by completed_at desc) filter (where status = 'exhausted'))[1] as last_error
       from deliveries where endpoint_id = e.id and id >= $3 and completed_at >= e.failing_since
   ) d
   where e.id = any($1) and e.active and e.deleted_at is null and e.failing_since <= $2
     and d.exhausted >= ${FAILING_EXHAUSTED_MIN} and d.succeeded = 0`;

/** A delivery that was given up after the endpoint began to fail was made not much earlier. */
const MADE_BEFORE_MS = 86_400_000;
const OLDEST_MS = 31 * 86_400_000;

/** Those of the endpoints that acknowledged nothing for five days and gave up twenty deliveries in that time. */
export const failingEndpoints = (sql: Sql, endpointIds: readonly string[], nowMs: number): Promise<FailingEndpoint[]> =>
  sql.query<FailingEndpoint>(FAILING, [
    endpointIds,
    new Date(nowMs - FAILING_AFTER_MS),
    firstIdAt('delivery', nowMs - OLDEST_MS - MADE_BEFORE_MS),
  ]);

/**
 * Sets an active endpoint inactive for the service's own reason.
 *
 * @param failingSince only while this value is stored; omitted: whatever is stored
 * @returns whether this call did it
 */
export async function setInactive(
  sql: Sql,
  endpointId: string,
  reason: DisabledReason,
  failingSince?: Date,
): Promise<boolean> {
  const rows = await sql.query(
    `update webhook_endpoints set active = false, disabled_reason = $2, updated_at = now()
      where id = $1 and active and deleted_at is null
        and ($3::timestamptz is null or date_trunc('milliseconds', failing_since) = $3) returning id`,
    [endpointId, reason, failingSince ?? null],
  );
  return rows.length > 0;
}

const GIVEN_UP = /* sql */ `
  select count(*)::int as deliveries, min(created_at) as since
    from deliveries
   where endpoint_id = $1 and id >= $2 and status = 'exhausted' and completed_at >= $3`;

/** Deliveries that can be sent again by a recovery. */
export interface Recoverable {
  /** Creation of the oldest of them. */
  readonly since: Date;
  readonly deliveries: number;
}

/** Those given up since a time. */
export async function givenUpSince(
  sql: Sql,
  endpointId: string,
  from: Date,
  nowMs: number,
): Promise<Recoverable | undefined> {
  const lowest = Math.max(from.getTime() - MADE_BEFORE_MS, nowMs - OLDEST_MS);
  const [row] = await sql.query<{ deliveries: number; since: Date | null }>(GIVEN_UP, [
    endpointId,
    firstIdAt('delivery', lowest),
    from,
  ]);
  return row === undefined || row.since === null ? undefined : { deliveries: row.deliveries, since: row.since };
}
