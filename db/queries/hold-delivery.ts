import type { Sql } from '../database.ts';

/** Notes which workflow holds a delivery from now on. */
export async function holdDelivery(sql: Sql, deliveryId: string, workflowId: string): Promise<void> {
  await sql.query(`update deliveries set workflow_id = $2 where id = $1`, [deliveryId, workflowId]);
}
