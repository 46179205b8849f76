/**
 * Folders of a mailbox as rows: their names and look-up, and the names a mailbox subscribes to, which may name folders that
 * do not exist (RFC 9051 §6.3.7).
 */
import { type Folder, type SpecialUse, StoreRefused } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';
import { FOLDER_DEPTH_MAX, FOLDER_NAME_MAX_BYTES } from '#domain/mail/mail-limits.ts';

export interface FolderName {
  /** In NFC, `/` between levels, INBOX in capitals. */
  readonly name: string;
  /** By which names are compared: two folders of a mailbox never differ by letter case alone. */
  readonly key: string;
}

const INBOX = /^inbox(?=\/|$)/i;

/** A name for look-up; it is not checked whether it could be created. */
export function folderName(given: string): FolderName {
  const name = given.normalize('NFC').replace(/\/$/, '').replace(INBOX, 'INBOX');
  return { name, key: name.toLowerCase() };
}

/**
 * A name for a new folder. A delimiter at its end, by which a client says that it will make children, is dropped
 * (RFC 9051 §6.3.4).
 *
 * @throws {StoreRefused} cannot, limit
 */
export function newFolderName(given: string): FolderName {
  const folder = folderName(given);
  const levels = folder.name.split('/');
  if (levels.includes('') || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(folder.name) || !folder.name.isWellFormed())
    throw new StoreRefused('cannot', 'A folder cannot have this name');
  if (levels.length > FOLDER_DEPTH_MAX || Buffer.byteLength(folder.name) > FOLDER_NAME_MAX_BYTES)
    throw new StoreRefused('limit', 'The name is too long or has too many levels');
  return folder;
}

/** The parent folders of a name, outermost first. */
export function parentsOf({ name }: FolderName): FolderName[] {
  const parents: FolderName[] = [];
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) parents.push(folderName(name.slice(0, at)));
  return parents;
}

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

/** The six folders of creation are subscribed without a row. */
export async function listSubscriptions(sql: Sql, mailboxId: string): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(LIST_SUBSCRIPTIONS, [mailboxId]);
  return rows.map(({ name }) => name);
}

/** @throws {StoreRefused} cannot, limit */
export async function subscribe(sql: Sql, mailboxId: string, given: string, subscribed: boolean): Promise<void> {
  const { name, key } = newFolderName(given);
  await sql.query(SUBSCRIBE, [mailboxId, key, name, subscribed]);
}

const LIST_SUBSCRIPTIONS = `
  select coalesce(f.name, s.name) as name
    from (select name, name_key, special_use from folder where mailbox_id = $1 and deleted_at is null) as f
    full join (select name, name_key, subscribed from subscription where mailbox_id = $1) as s using (name_key)
   where coalesce(s.subscribed, f.special_use is not null)
   order by 1`;

const SUBSCRIBE = `
  insert into subscription (mailbox_id, name_key, name, subscribed) values ($1, $2, $3, $4)
  on conflict (mailbox_id, name_key) do update set name = excluded.name, subscribed = excluded.subscribed`;
