/**
 * The locks of every change of mail, in their one order: folders ascending, then the mailbox's counter. Their holder
 * assigns UIDs and MODSEQs; the rows in memory are kept equal to the stored ones during a transaction.
 */

import { StoreRefused } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';

export interface FolderRow {
  readonly id: number;
  uid_next: number;
  modseq: number;
}

export interface CounterRow {
  readonly mailbox_id: string;
  bytes_used: number;
  readonly quota_bytes: number;
  change_seq: number;
}

interface LockedFolder extends FolderRow {
  readonly uid_validity: number;
  readonly total: number;
  readonly deleted: number;
}

export interface LockedFolders {
  readonly folders: ReadonlyMap<number, LockedFolder>;
  readonly counter: CounterRow;
  /** @throws {StoreRefused} no-folder */
  folder(id: number): LockedFolder;
}

/**
 * Locks folders of a mailbox and its counter until the transaction ends. Deleted folders are omitted.
 *
 * @throws {StoreRefused} no-folder, if none of them exists
 */
export async function lockFolders(sql: Sql, mailboxId: string, folderIds: readonly number[]): Promise<LockedFolders> {
  const [row] = await sql.query<CounterRow & { folders: LockedFolder[] }>(LOCK_FOLDERS, [folderIds, mailboxId]);
  if (row === undefined) throw noFolder();
  const folders = new Map(row.folders.map((folder) => [folder.id, folder]));
  return {
    folders,
    counter: row,
    folder(id) {
      const folder = folders.get(id);
      if (folder === undefined) throw noFolder();
      return folder;
    },
  };
}

export const noFolder = (): StoreRefused => new StoreRefused('no-folder', 'There is no such folder');

/** All folders are locked before the counter. */
const LOCK_FOLDERS = `
  with locked as materialized (
    select id, uid_next, modseq, uid_validity, total, deleted from folder
     where id = any($1::bigint[]) and mailbox_id = $2 and deleted_at is null
     order by id for no key update
  ), listed as materialized (select json_agg(locked) as folders from locked)
  select listed.folders, counter.* from listed cross join lateral (
    select mailbox_id, bytes_used, quota_bytes, change_seq from mailbox_counter
     where mailbox_id = $2 and listed.folders is not null
       for no key update) as counter`;
