import { randomBytes } from 'node:crypto';
import type { Database } from '#db/database.ts';
import { RESPONSE_BODY_LIMIT_BYTES } from '#domain/webhooks/delivery-limits.ts';

/** Belongs to no day, so it is in the default partition. */
const PROBE_ID = 'dlv_0';

/**
 * Writes and deletes a row of the maximum size of an attempt's result, in one commit, so that it is never visible.
 *
 * @throws the error that a result would cause: a full disk, a read-only or unreachable server
 */
export async function probeWrites(db: Pick<Database, 'transaction'>): Promise<void> {
  const number = Math.floor(Math.random() * 32_767);
  await db.transaction(async (sql) => {
    await sql.query(
      `insert into delivery_attempts (delivery_id, number, trigger, started_at, duration_ms, response_body)
       values ($1, $2, 'automatic', now(), 0, $3) on conflict do nothing`,
      [PROBE_ID, number, randomBytes(RESPONSE_BODY_LIMIT_BYTES)],
    );
    await sql.query(`delete from delivery_attempts where delivery_id = $1 and number = $2`, [PROBE_ID, number]);
  });
}
