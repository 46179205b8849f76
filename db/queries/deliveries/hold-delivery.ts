import type { Sql } from '#db/database.ts';

/** Records which workflow processes a delivery from now on. */
export async function holdDelivery(sql: Sql, deliveryId: string, workflowId: string): Promise<void> {
  await sql.query(`update deliveries set workflow_id = $2 where id = $1`, [deliveryId, workflowId]);
}

/** Makes a delivery that waits for a retry due at once, for the workflow that will process it. */
export async function makeDueNow(sql: Sql, deliveryId: string, now: Date): Promise<void> {
  await sql.query(`update deliveries set next_attempt_at = $2 where id = $1 and status = 'failed'`, [deliveryId, now]);
}

/** Records which workflow processes several deliveries from now on. */
export async function holdDeliveries(sql: Sql, ids: readonly string[], workflowId: string): Promise<void> {
  const sorted = ids.toSorted();
  await sql.query(`update deliveries set workflow_id = $2 where id = any($1) and id >= $3 and id <= $4`, [
    ids,
    workflowId,
    sorted[0] ?? '',
    sorted.at(-1) ?? '',
  ]);
}
