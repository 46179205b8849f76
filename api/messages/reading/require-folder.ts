import type { Sql } from '#db/database.ts';
import { ALL_FOLDERS, unknownFolder } from './listed-folder.ts';

/**
 * Refuses a filter by a folder the mailbox does not have, which would find nothing for ever.
 *
 * @throws {CatalogueError} invalid_request
 */
export async function requireFolder(sql: Sql, mailboxId: string, name: string | undefined): Promise<void> {
  if (name === undefined || name === ALL_FOLDERS) return;
  const [folder] = await sql.query(FIND, [mailboxId, name.normalize('NFC').toLowerCase()]);
  if (folder === undefined) throw unknownFolder(name, 'The mailbox has');
}

const FIND = `select 1 from folder where mailbox_id = $1 and name_key = $2 and deleted_at is null`;
