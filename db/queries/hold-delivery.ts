import type { Sql } from '../database.ts';

/** Notes which workflow holds a delivery from now on. */
export async function holdDelivery(sql: Sql, deliveryId: string, workflowId: string): Promise<void> {
  await sql.query(`update deliveries set workflow_id = $2 where id = $1`, [deliveryId, workflowId]);
}

/** Makes a delivery that waits for a retry due at once, for the workflow that will take it over. */
export async function makeDueNow(sql: Sql, deliveryId: string, now: Date): Promise<void> {
  await sql.query(`update deliveries set next_attempt_at = $2 where id = $1 and status = 'failed'`, [deliveryId, now]);
}
