/** Where a sender reads reports about sent mail. */
import type { SendingServices } from './sending-services.ts';

/** Folder whose watchers are notified of a notice. */
export async function inboxOf({ db }: Pick<SendingServices, 'db'>, mailboxId: string): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    `select id from folder where mailbox_id = $1 and special_use = '\\Inbox' and deleted_at is null`,
    [mailboxId],
  );
  return rows.map(({ id }) => id);
}
