import type { Sql } from '../db/database.ts';

/** NOTIFY channel of the mail processes; see `mail/store/notifier.ts` for what is said on it. */
export const MAIL_CHANGES_CHANNEL = 'mail_changes';

/**
 * Tells every mail process that the right to a mailbox may have ended: its token was rotated, it was suspended or
 * deleted. They look at its row and end connections that lost their right. Call it within the transaction of the change:
 * it is told with the commit.
 */
export async function announceMailboxAccess(sql: Sql, mailboxId: string): Promise<void> {
  await sql.query(`select pg_notify($1, $2)`, [MAIL_CHANGES_CHANNEL, `;mailbox ${mailboxId}`]);
}
