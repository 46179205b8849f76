import type { MailAccount } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';
import { deliveryAddress } from '#domain/mail/mailbox-address.ts';
import { CommandError } from '#operations/command.ts';

/** @throws {CommandError} */
export async function requireMailbox(sql: Sql, address: string): Promise<MailAccount> {
  const [row] = await sql.query<MailAccount>(
    `select id as "mailboxId", address from mailboxes where address = $1 and deleted_at is null`,
    [deliveryAddress(address.trim().toLowerCase())],
  );
  if (row === undefined) throw new CommandError(`there is no mailbox ${address}`);
  return row;
}
