import { findRoleAddress } from '#core/mailboxes/role-mail.ts';
import type { Sql } from '#db/database.ts';
import { directoryOf } from './local-addresses.ts';
import type { Sender } from './outbound-message.ts';
import type { SendingServices } from './sending-services.ts';

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
