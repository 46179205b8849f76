import type { Sql } from '../database.ts';

/** Locks in one order, so that two workers that note the same endpoints never wait for each other in a circle. */
const IN_ORDER = /* sql */ `select id from webhook_endpoints where id = any($1) order by id for no key update`;

/** Notes that endpoints acknowledged a delivery. Called seldom, so that a busy endpoint's row is not a hot spot. */
export async function noteEndpointSuccess(sql: Sql, endpointIds: readonly string[]): Promise<void> {
  await sql.query(
    `with locked as (${IN_ORDER})
     update webhook_endpoints e set last_success_at = now(), failing_since = null from locked where e.id = locked.id`,
    [endpointIds],
  );
}

/** Notes since when endpoints acknowledge nothing. */
export async function noteEndpointFailure(sql: Sql, endpointIds: readonly string[]): Promise<void> {
  await sql.query(
    `with locked as (${IN_ORDER})
     update webhook_endpoints e set failing_since = now() from locked
      where e.id = locked.id and e.failing_since is null`,
    [endpointIds],
  );
}

/** Sets an endpoint inactive after its server answered 410 Gone. @returns whether this call did it */
export async function disableGoneEndpoint(sql: Sql, endpointId: string, url: string): Promise<boolean> {
  const rows = await sql.query(
    `update webhook_endpoints set active = false, disabled_reason = 'gone', updated_at = now()
      where id = $1 and url = $2 and active and deleted_at is null returning id`,
    [endpointId, url],
  );
  return rows.length > 0;
}
