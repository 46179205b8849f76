import { MAIL_CHANGES_CHANNEL } from '../../core/mailbox-access.ts';
import type { Sql } from '../../db/database.ts';

/**
 * Tells the watchers of all mail processes that folders changed, for processes that have no doors and so no notifier of
 * their own. Call it after the commit; what is lost is found by the watchers' poll.
 */
export async function announceChanges(sql: Sql, folderIds: Iterable<number>): Promise<void> {
  const topics = [...new Set(folderIds)].map((id) => `folder ${id}`);
  if (topics.length > 0) await sql.query(`select pg_notify($1, $2)`, [MAIL_CHANGES_CHANNEL, `;${topics.join(',')}`]);
}
