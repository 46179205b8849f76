import type { MailAccount } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { deliveryAddress } from '#domain/mail/mailbox-address.ts';

export interface FoundMailbox extends MailAccount {
  readonly organizationId: string;
}

/** @param given id or address @throws {CatalogueError} not_found */
export async function requireMailbox(sql: Sql, given: string): Promise<FoundMailbox> {
  const [row] = await sql.query<FoundMailbox & object>(
    `select id as "mailboxId", address, organization_id as "organizationId" from mailboxes
      where (id = $1 or address = $2) and deleted_at is null`,
    [given.trim(), deliveryAddress(given.trim().toLowerCase())],
  );
  if (row === undefined) throw new CatalogueError('not_found', `There is no mailbox ${given}.`);
  return row;
}
