/**
 * Creating, deleting and renaming folders. Changes of names hold the lock of the mailbox's counter, so that two cannot
 * use the same name.
 */

import { type Folder, type SpecialUse, StoreRefused } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';
import { FOLDERS_MAX } from '#domain/mail/mail-limits.ts';
import {
  FOLDER_COLUMNS,
  type FolderColumns,
  type FolderName,
  folderName,
  folderOf,
  newFolderName,
  parentsOf,
} from './folders.ts';
import { lockFolders, noFolder } from './lock-folders.ts';
import { copyPlacements, removePlacements } from './placements.ts';

const alreadyThere = () => new StoreRefused('exists', 'The folder exists already');

/**
 * Creates a folder and its missing parents. Call it inside a transaction.
 *
 * @throws {StoreRefused} exists, cannot, limit
 */
export async function createFolder(
  sql: Sql,
  mailboxId: string,
  given: string,
  specialUse: SpecialUse | null,
): Promise<Folder> {
  const wanted = newFolderName(given);
  await lockCounter(sql, mailboxId);
  const live = await liveFolders(sql, mailboxId);
  if (live.some(({ name_key }) => name_key === wanted.key)) throw alreadyThere();
  if (specialUse !== null && live.some(({ special_use }) => special_use === specialUse))
    throw new StoreRefused('cannot', 'Another folder has this special use');
  return insertWithParents(sql, mailboxId, wanted, specialUse, live);
}

/**
 * Deletes a folder: it disappears at once, its messages are purged later. Folders inside it stay.
 *
 * @returns its id
 * @throws {StoreRefused} no-folder; cannot, for the six of creation
 */
export async function deleteFolder(sql: Sql, mailboxId: string, given: string): Promise<number> {
  const { name, key } = folderName(given);
  const [found] = await sql.query<{ id: number }>(FOLDER_ID, [mailboxId, key, name]);
  if (found === undefined) throw noFolder();
  await lockFolders(sql, mailboxId, [found.id]);
  const [deleted] = await sql.query<{ id: number }>(DELETE_FOLDER, [mailboxId, found.id]);
  if (deleted === undefined) throw new StoreRefused('cannot', 'This folder cannot be deleted');
  return found.id;
}

/**
 * Renames a folder and those inside it; ids, UIDs and UIDVALIDITY do not change. INBOX itself stays: its messages move
 * into a new folder (RFC 9051 §6.3.6).
 *
 * @returns ids of the folders that changed
 * @throws {StoreRefused} no-folder, exists, cannot, limit
 */
export async function renameFolder(sql: Sql, mailboxId: string, from: string, to: string): Promise<number[]> {
  const [old, wanted] = [folderName(from), newFolderName(to)];
  const ids = await sql.query<{ id: number }>(LIVE_FOLDER_IDS, [mailboxId]);
  await lockFolders(
    sql,
    mailboxId,
    ids.map(({ id }) => id),
  );
  const live = await liveFolders(sql, mailboxId);
  const folder = live.find(({ name }) => name === old.name);
  if (folder === undefined) throw noFolder();
  if (live.some(({ id, name_key }) => name_key === wanted.key && id !== folder.id)) throw alreadyThere();
  if (folder.special_use === '\\Inbox') return renameInbox(sql, mailboxId, folder.id, wanted, live);
  if (wanted.key.startsWith(`${old.key}/`)) throw new StoreRefused('cannot', 'A folder cannot be moved into itself');
  if (wanted.name === old.name) return [];
  const moved = live.filter(({ id, name_key }) => id === folder.id || name_key.startsWith(`${old.key}/`));
  const names = moved.map(({ name }) => newFolderName(wanted.name + name.slice(old.name.length)));
  const taken = new Set(live.filter((each) => !moved.includes(each)).map(({ name_key }) => name_key));
  if (names.some(({ key }) => taken.has(key))) throw alreadyThere();
  await sql.query(RENAME_FOLDERS, [
    moved.map(({ id }) => id),
    names.map(({ name }) => name),
    names.map(({ key }) => key),
  ]);
  const parent = parentsOf(wanted).at(-1);
  if (parent !== undefined) {
    const now = await liveFolders(sql, mailboxId);
    if (!now.some(({ name_key }) => name_key === parent.key))
      await insertWithParents(sql, mailboxId, parent, null, now);
  }
  return moved.map(({ id }) => id);
}

async function renameInbox(
  sql: Sql,
  mailboxId: string,
  inboxId: number,
  wanted: FolderName,
  live: readonly LiveFolder[],
): Promise<number[]> {
  const { id } = await insertWithParents(sql, mailboxId, wanted, null, live);
  const locked = await lockFolders(sql, mailboxId, [inboxId, id]);
  const rows = await sql.query<{ uid: number }>(UIDS_OF_FOLDER, [inboxId]);
  const uids = rows.map((row) => row.uid);
  await copyPlacements(sql, locked, inboxId, uids, id, { moving: true, complete: true });
  await removePlacements(sql, locked, inboxId, uids, { onlyDeleted: false, purge: false });
  return [inboxId, id];
}

interface LiveFolder {
  readonly id: number;
  readonly name: string;
  readonly name_key: string;
  readonly special_use: SpecialUse | null;
}

const liveFolders = (sql: Sql, mailboxId: string) => sql.query<LiveFolder>(LIVE_FOLDERS, [mailboxId]);

async function lockCounter(sql: Sql, mailboxId: string): Promise<void> {
  const rows = await sql.query(LOCK_COUNTER, [mailboxId]);
  if (rows.length === 0) throw noFolder();
}

async function insertWithParents(
  sql: Sql,
  mailboxId: string,
  wanted: FolderName,
  specialUse: SpecialUse | null,
  live: readonly LiveFolder[],
): Promise<Folder> {
  const keys = new Set(live.map(({ name_key }) => name_key));
  const missing = [...parentsOf(wanted).filter(({ key }) => !keys.has(key)), wanted];
  if (live.length + missing.length > FOLDERS_MAX)
    throw new StoreRefused('limit', `A mailbox has at most ${FOLDERS_MAX} folders`);
  const rows = await sql.query<FolderColumns>(INSERT_FOLDERS, [
    mailboxId,
    missing.map(({ name }) => name),
    missing.map(({ key }) => key),
    specialUse,
  ]);
  const row = rows.find(({ name }) => name === wanted.name);
  if (row === undefined) throw new Error('a folder was inserted and is not there');
  return folderOf(row);
}

const LOCK_COUNTER = `select mailbox_id from mailbox_counter where mailbox_id = $1 for no key update`;
const LIVE_FOLDER_IDS = `select id from folder where mailbox_id = $1 and deleted_at is null`;
const LIVE_FOLDERS = `select id, name, name_key, special_use from folder where mailbox_id = $1 and deleted_at is null`;
const FOLDER_ID = `select id from folder where mailbox_id = $1 and name_key = $2 and name = $3 and deleted_at is null`;
const UIDS_OF_FOLDER = `select uid from placement where folder_id = $1 order by uid`;

const RENAME_FOLDERS = `
  update folder set name = n.name, name_key = n.key
    from unnest($1::bigint[], $2::text[], $3::text[]) as n (id, name, key) where folder.id = n.id`;

const DELETE_FOLDER = `
  with gone as (
    update folder set deleted_at = now(), modseq = modseq + 1 where mailbox_id = $1 and id = $2 and special_use is null
    returning id, total, bytes
  ), counted as (
    update mailbox_counter set bytes_used = bytes_used - gone.bytes, messages = messages - gone.total
      from gone where mailbox_id = $1
  )
  select id from gone`;

/** Each UIDVALIDITY value is used once. */
const INSERT_FOLDERS = `
  with given as (
    update mailbox_counter set uid_validity_next = uid_validity_next + cardinality($2::text[]) where mailbox_id = $1
    returning uid_validity_next - cardinality($2::text[]) as first
  )
  insert into folder (mailbox_id, name, name_key, special_use, uid_validity)
  select $1, n.name, n.key, case when n.number = cardinality($2::text[]) then $4::text end, given.first + n.number - 1
    from given, unnest($2::text[], $3::text[]) with ordinality as n (name, key, number)
  returning ${FOLDER_COLUMNS}`;
