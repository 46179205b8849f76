import type { Sql } from '#db/database.ts';

/** Records which workflow processes a delivery from now on. */
export async function assignWorkflow(sql: Sql, deliveryId: string, workflowId: string): Promise<void> {
  await sql.query(`update deliveries set workflow_id = $2 where id = $1`, [deliveryId, workflowId]);
}

/** Makes a delivery that waits for a retry due at once, for the workflow that will process it. */
export async function makeDueNow(sql: Sql, deliveryId: string, now: Date): Promise<void> {
  await sql.query(`update deliveries set next_attempt_at = $2 where id = $1 and status = 'failed'`, [deliveryId, now]);
}

/** A delivery, and the id of the workflow that processes it from now on. */
export interface AssignedDelivery {
  readonly id: string;
  readonly workflowId: string;
}

const ASSIGN_CLAIMED = /* sql */ `
  update deliveries d set workflow_id = assigned.workflow_id
    from unnest($1::text[], $2::text[]) as assigned(id, workflow_id)
   where d.id = assigned.id and d.id = any($1) and d.id >= $3 and d.id <= $4
     and d.workflow_id in (d.fan_out_id, assigned.workflow_id)
  returning d.id`;

/**
 * Records which workflows process claimed deliveries from now on, except those that the workflow of a fan-out has handed
 * on since. @returns the ids of the deliveries that they process
 */
export async function assignClaimed(sql: Sql, assigned: readonly AssignedDelivery[]): Promise<ReadonlySet<string>> {
  const ids = assigned.map(({ id }) => id);
  const sorted = ids.toSorted();
  const workflowIds = assigned.map(({ workflowId }) => workflowId);
  const rows = await sql.query<{ id: string }>(ASSIGN_CLAIMED, [
    ids,
    workflowIds,
    sorted[0] ?? '',
    sorted.at(-1) ?? '',
  ]);
  return new Set(rows.map(({ id }) => id));
}
