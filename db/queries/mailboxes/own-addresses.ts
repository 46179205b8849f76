/** The addresses that a mailbox writes as: its own, and those of its aliases that are in use. Of a table `mailboxes m`. */
import type { Sql } from '#db/database.ts';

/** An array, the mailbox's own address first. @param mailbox the alias of the table */
export const ownAddressesOf = (mailbox: string): string => /* sql */ `
  array[${mailbox}.address] || coalesce((
    select array_agg(a.address order by a.id) from mailbox_alias a
     where a.mailbox_id = ${mailbox}.id and a.deleted_at is null and a.enabled
       and (a.expires_at is null or a.expires_at > now())), '{}')`;

/** Empty: there is no such mailbox. */
export async function findOwnAddresses(sql: Sql, mailboxId: string): Promise<readonly string[]> {
  const [row] = await sql.query<{ own: string[] }>(
    `select ${ownAddressesOf('m')} as own from mailboxes m where m.id = $1`,
    [mailboxId],
  );
  return row?.own ?? [];
}
