import { MAIL_CHANGES_CHANNEL } from '#core/mailboxes/mailbox-access.ts';
import type { Sql } from '#db/database.ts';

/**
 * Notifies the watchers of all mail processes that folders changed, for processes that have no listeners and so no
 * notifier of their own. Call it after the commit; the watchers' poll finds lost changes.
 */
export async function announceChanges(sql: Sql, folderIds: Iterable<number>): Promise<void> {
  const topics = [...new Set(folderIds)].map((id) => `folder ${id}`);
  if (topics.length > 0) await sql.query(`select pg_notify($1, $2)`, [MAIL_CHANGES_CHANNEL, `;${topics.join(',')}`]);
}
