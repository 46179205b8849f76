import type { Sql } from '#db/database.ts';
import { lockFolders } from './lock-folders.ts';
import { removePlacements } from './placements.ts';

/**
 * Removes messages from every folder of their mailbox, as a client removes them for good: with tombstones, counters and
 * lines in the log. Watching clients notice it within half a minute. Call it in a transaction.
 *
 * @returns placements removed
 */
export async function unplaceMessages(sql: Sql, mailboxId: string, ids: readonly string[]): Promise<number> {
  const folders = await sql.query<{ id: number }>(
    `select id from folder where mailbox_id = $1 and deleted_at is null order by id`,
    [mailboxId],
  );
  if (folders.length === 0) return 0;
  const locked = await lockFolders(
    sql,
    mailboxId,
    folders.map(({ id }) => id),
  );
  const placed = await sql.query<{ folder_id: number; uid: number }>(
    `select folder_id, uid from placement where message_id = any($1::text[]) order by folder_id, uid`,
    [ids],
  );
  let count = 0;
  for (const [folderId, each] of Map.groupBy(placed, ({ folder_id }) => folder_id))
    if (locked.folders.has(folderId))
      count += (
        await removePlacements(
          sql,
          locked,
          folderId,
          each.map(({ uid }) => uid),
          { onlyDeleted: false, purge: true },
        )
      ).length;
  return count;
}
