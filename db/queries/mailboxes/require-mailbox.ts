import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { EnvelopeMailbox } from '#domain/webhooks/event-types.ts';

/**
 * Who a mailbox is, without the counters of its mail: for requests about something in it.
 *
 * @throws {CatalogueError} not_found
 */
export async function requireMailbox(sql: Sql, organizationId: string, mailboxId: string): Promise<EnvelopeMailbox> {
  const [row] = await sql.query<EnvelopeMailbox>(
    `select id, name, address, local_part as "localPart", domain from mailboxes
      where organization_id = $1 and id = $2 and deleted_at is null`,
    [organizationId, mailboxId],
  );
  if (row === undefined) throw new CatalogueError('not_found');
  return row;
}
