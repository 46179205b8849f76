/**
 * Addresses of this host and of others: which recipients are delivered here, which are outside, and where a sender reads
 * reports about sent mail.
 */
import { findRoleAddress } from '#core/mailboxes/role-mail.ts';
import type { Sql } from '#db/database.ts';
import { recipientDirectory } from '#mailstore/delivery/recipients.ts';
import type { Sender, SendingServices } from './outbound-message.ts';

/** @param sql inside a transaction, that of the transaction: code that has a connection must not wait for another */
export const directoryOf = ({ db, settings, now }: SendingServices, sql: Sql = db) =>
  recipientDirectory(sql, settings.MAIL_DOMAIN, now);

/** Whether mail to an address stays on this host. */
export async function isLocal(services: SendingServices, address: string, sql: Sql = services.db): Promise<boolean> {
  return directoryOf(services, sql).servesDomain(address.slice(address.lastIndexOf('@') + 1));
}

/** Folder whose watchers are notified of a notice. */
export async function inboxOf({ db }: Pick<SendingServices, 'db'>, mailboxId: string): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    `select id from folder where mailbox_id = $1 and special_use = '\\Inbox' and deleted_at is null`,
    [mailboxId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Recipients that are neither mailboxes nor role addresses of the sender's organization. Mail to an address here that
 * does not exist reaches nobody, so it is not among them: `outbound_recipient.inside` keeps it so.
 */
export async function outsideOf(
  services: SendingServices,
  sender: Sender,
  recipients: readonly { readonly address: string; readonly local: boolean }[],
  sql: Sql = services.db,
): Promise<string[]> {
  const directory = directoryOf(services, sql);
  const outside = await Promise.all(
    recipients.map(async ({ address, local }) => {
      if (!local) return true;
      const found = await directory.find(address);
      const organizationId =
        found === undefined
          ? (await findRoleAddress(sql, services.settings.MAIL_DOMAIN, address))?.organizationId
          : found.organization.id;
      return organizationId !== undefined && organizationId !== sender.organization.id;
    }),
  );
  return recipients.filter((_, i) => outside[i]).map(({ address }) => address);
}
