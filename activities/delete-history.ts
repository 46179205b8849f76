import type { Database } from '../db/database.ts';
import { createPartitions, dropOldPartitions } from '../db/partitions.ts';
import { forgetNotices } from '../db/queries/member-notices.ts';
import { forgetRecoveries } from '../db/queries/recoveries.ts';
import { DELIVERY_RETENTION_DAYS } from '../domain/delivery-limits.ts';
import { MEMBER_NOTICE_RETENTION_DAYS } from '../domain/member-notices.ts';
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
  // Replays show secrets for ten minutes only; what nobody may see any more is not kept.
  await db.query(
    `update idempotency_keys set body_sealed = null
      where body_sealed is not null and created_at < now() - interval '10 minutes'`,
  );
  await db.query(`delete from rate_limits where resets_at_ms < $1`, [nowMs]);
  const sessions = await db.query(`delete from sessions where expires_at < now() returning 1`);
  // The deliveries they sent again are gone.
  await forgetRecoveries(db, DELIVERY_RETENTION_DAYS);
  await forgetNotices(db, MEMBER_NOTICE_RETENTION_DAYS);
  const mail = await pruneMailStore(db);
  return { partitions, idempotencyKeys: keys.length, expiredSessions: sessions.length, mail };
}
