import type { Sql } from '#db/database.ts';

const OF_ENDPOINTS = /* sql */ `
  select distinct workflow_id from deliveries
   where endpoint_id = any($1) and status in ('pending', 'failed') and workflow_id like 'delivery/%'`;

const OF_ORGANIZATION = /* sql */ `
  select distinct d.workflow_id from webhook_endpoints e
    join deliveries d on d.endpoint_id = e.id and d.status in ('pending', 'failed') and d.workflow_id like 'delivery/%'
   where e.organization_id = $1`;

/** Ids of the workflows in which deliveries of these endpoints, or of this organization, wait. */
export async function openDeliveryWorkflows(
  sql: Sql,
  target: { readonly endpointIds: readonly string[] } | { readonly organizationId: string },
): Promise<string[]> {
  const rows =
    'endpointIds' in target
      ? await sql.query<{ workflow_id: string }>(OF_ENDPOINTS, [target.endpointIds])
      : await sql.query<{ workflow_id: string }>(OF_ORGANIZATION, [target.organizationId]);
  return rows.map((row) => row.workflow_id);
}
