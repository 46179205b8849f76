import type { Sql } from '#db/database.ts';

/** NOTIFY channel about mail and access to it; see `mailstore/changes/notifier.ts` for its messages. */
export const MAIL_CHANGES_CHANNEL = 'mail_changes';

/**
 * Notifies every process that access to mailboxes may have ended: a token was rotated or revoked, one was suspended or
 * deleted, or its group changed. They read the rows and close connections and streams that lost their access. Call it
 * within the transaction of the change: the notification is sent with the commit.
 */
export async function announceMailboxAccess(sql: Sql, ...mailboxIds: readonly string[]): Promise<void> {
  await sql.query(`select pg_notify($1, ';mailbox ' || id) from unnest($2::text[]) as id`, [
    MAIL_CHANGES_CHANNEL,
    mailboxIds,
  ]);
}

/** As `announceMailboxAccess`, about all mailboxes that an API key opens: its groups, scopes or expiry changed, or it ended. */
export async function announceKeyAccess(sql: Sql, keyId: string): Promise<void> {
  await sql.query(`select pg_notify($1, $2)`, [MAIL_CHANGES_CHANNEL, `;key ${keyId}`]);
}
