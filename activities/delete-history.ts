import type { Database } from '../db/database.ts';
import { createPartitions, dropOldPartitions } from '../db/partitions.ts';
import { type PrunedMailStore, pruneMailStore } from '../mail/store/housekeeping.ts';

export interface DeletedHistory {
  readonly partitions: readonly string[];
  readonly idempotencyKeys: number;
  readonly expiredSessions: number;
  readonly mail: PrunedMailStore;
}

/** Keeps the daily partitions: makes those of the coming days, drops those past the retention of 30 days. */
export async function deleteHistory(db: Database, nowMs: number): Promise<DeletedHistory> {
  await createPartitions(db, nowMs);
  const partitions = await dropOldPartitions(db, nowMs);
  const keys = await db.query(
    `delete from idempotency_keys where created_at < now() - interval '24 hours' returning 1`,
  );
  const sessions = await db.query(`delete from sessions where expires_at < now() returning 1`);
  const mail = await pruneMailStore(db);
  return { partitions, idempotencyKeys: keys.length, expiredSessions: sessions.length, mail };
}
