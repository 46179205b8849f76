import type { Sql } from '#db/database.ts';
import { directoryOf } from '#sending/attempt/local-addresses.ts';
import type { Sender } from '#sending/outbox/outbound-message.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';

/** Recipients that are no mailboxes of the sender's organization. */
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
      // An address here that does not exist is bounced and reaches nobody.
      return found !== undefined && found.organization.id !== sender.organization.id;
    }),
  );
  return recipients.filter((_, i) => outside[i]).map(({ address }) => address);
}
