/** Folders of a mailbox as rows. */

import type { Folder, SpecialUse } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';
import { folderName } from './folder-name.ts';

export interface FolderColumns {
  readonly id: number;
  readonly name: string;
  readonly special_use: SpecialUse | null;
  readonly uid_validity: number;
  readonly uid_next: number;
  readonly modseq: number;
  readonly total: number;
  readonly unseen: number;
  readonly deleted: number;
  readonly bytes: number;
  readonly recent_from: number;
}

export const FOLDER_COLUMNS = `id, name, special_use, uid_validity, uid_next, modseq, total, unseen, deleted, bytes, recent_from`;

export const folderOf = (row: FolderColumns): Folder => ({
  id: row.id,
  objectId: `F${row.id}`,
  name: row.name,
  specialUse: row.special_use,
  uidValidity: row.uid_validity,
  uidNext: row.uid_next,
  highestModseq: row.modseq,
  total: row.total,
  unseen: row.unseen,
  deleted: row.deleted,
  bytes: row.bytes,
  recentFrom: row.recent_from,
});

/** INBOX and the others of creation first, then by name. */
export async function listFolders(sql: Sql, mailboxId: string): Promise<Folder[]> {
  const rows = await sql.query<FolderColumns>(LIST_FOLDERS, [mailboxId]);
  return rows.map(folderOf);
}

export async function findFolder(sql: Sql, mailboxId: string, given: string): Promise<Folder | undefined> {
  const { name, key } = folderName(given);
  const [row] = await sql.query<FolderColumns>(FIND_FOLDER, [mailboxId, key, name]);
  return row === undefined ? undefined : folderOf(row);
}

const LIST_FOLDERS = `
  select ${FOLDER_COLUMNS} from folder where mailbox_id = $1 and deleted_at is null
   order by special_use is null, case when special_use is null then 0 else id end, name_key`;

const FIND_FOLDER = `
  select ${FOLDER_COLUMNS} from folder where mailbox_id = $1 and deleted_at is null and name_key = $2 and name = $3`;
