import type { Sql } from '../database.ts';

/** Notes that endpoints acknowledged a delivery. Called seldom, so that a busy endpoint's row is not a hot spot. */
export async function noteEndpointSuccess(sql: Sql, endpointIds: readonly string[]): Promise<void> {
  await sql.query(`update webhook_endpoints set last_success_at = now(), failing_since = null where id = any($1)`, [
    endpointIds,
  ]);
}

/** Notes since when endpoints acknowledge nothing. */
export async function noteEndpointFailure(sql: Sql, endpointIds: readonly string[]): Promise<void> {
  await sql.query(`update webhook_endpoints set failing_since = now() where id = any($1) and failing_since is null`, [
    endpointIds,
  ]);
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
