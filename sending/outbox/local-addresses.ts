/** Which addresses belong to this host. */
import type { Sql } from '#db/database.ts';
import { recipientDirectory } from '#mailstore/delivery/recipients.ts';
import type { SendingServices } from './sending-services.ts';

/** @param sql inside a transaction, that of the transaction: code that has a connection must not wait for another */
export const directoryOf = ({ db, settings, now }: SendingServices, sql: Sql = db) =>
  recipientDirectory(sql, settings.MAIL_DOMAIN, now);

/** Whether mail to an address stays on this host. */
export async function isLocal(services: SendingServices, address: string, sql: Sql = services.db): Promise<boolean> {
  return directoryOf(services, sql).servesDomain(address.slice(address.lastIndexOf('@') + 1));
}
