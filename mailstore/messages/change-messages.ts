/**
 * Changing a message as REST sees it: one message with labels, wherever it is placed. Every placement is changed, in one
 * transaction, so that IMAP clients see the same.
 *
 * Changes many messages in one transaction, each in every folder that contains it. One statement changes the flags and
 * labels of a folder, so the number of messages costs little.
 */
import type { Database, Sql } from '#db/database.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import { folderName } from '#mailstore/folders/folders.ts';
import { type LockedFolders, lockFolders, noFolder } from '#mailstore/folders/lock-folders.ts';
import { copyPlacements, removePlacements } from '#mailstore/folders/placements.ts';
import { storeFlags } from '#mailstore/folders/store-flags.ts';

export interface MessageChange {
  readonly seen?: boolean;
  readonly flagged?: boolean;
  /** All labels it has afterwards. */
  readonly labels?: readonly string[];
  /** Name, case-insensitive, of the only folder that contains it afterwards. */
  readonly folder?: string;
}

interface Placed {
  readonly folder_id: number;
  readonly uid: number;
  readonly flags: number;
  readonly keywords: readonly string[];
}

/**
 * @returns false if the mailbox has no such message
 * @throws {StoreRefused} no-folder; limit of labels
 */
export function changeMessage(
  db: Database,
  notifier: MailNotifier,
  mailboxId: string,
  messageId: string,
  change: MessageChange,
): Promise<boolean> {
  return onPlacements(db, notifier, mailboxId, messageId, change.folder, async (sql, locked, placed, targetId) => {
    for (const each of placed)
      await storeFlags(sql, locked, {
        folderId: each.folder_id,
        uids: [each.uid],
        change: 'replace',
        flags: changedFlags(each.flags, change),
        keywords: change.labels ?? each.keywords,
        unchangedSince: null,
      });
    if (targetId !== undefined) await moveTo(sql, locked, placed, targetId);
  });
}

/**
 * Moves a message to Trash. A message that is only there already, or any with `permanent`, is removed permanently.
 *
 * @returns false if the mailbox has no such message
 */
export function deleteMessage(
  db: Database,
  notifier: MailNotifier,
  mailboxId: string,
  messageId: string,
  permanent: boolean,
): Promise<boolean> {
  return onPlacements(db, notifier, mailboxId, messageId, '\\Trash', async (sql, locked, placed, trashId) => {
    if (!permanent && trashId !== undefined && placed.some(({ folder_id }) => folder_id !== trashId))
      await moveTo(sql, locked, placed, trashId);
    else
      for (const { folder_id: folderId, uid } of placed)
        await removePlacements(sql, locked, folderId, [uid], { onlyDeleted: false, purge: true });
  });
}

function changedFlags(flags: number, { seen, flagged }: MessageChange): number {
  let next = flags;
  if (seen !== undefined) next = seen ? next | MAIL_FLAGS.seen : next & ~MAIL_FLAGS.seen;
  if (flagged !== undefined) next = flagged ? next | MAIL_FLAGS.flagged : next & ~MAIL_FLAGS.flagged;
  return next;
}

/** Leaves one placement, in this folder. */
async function moveTo(sql: Sql, locked: LockedFolders, placed: readonly Placed[], targetId: number): Promise<void> {
  const [kept] = placed.filter(({ folder_id }) => folder_id === targetId);
  const [first] = placed;
  if (kept === undefined && first !== undefined)
    await copyPlacements(sql, locked, first.folder_id, [first.uid], targetId, { moving: true, complete: false });
  for (const each of placed)
    if (each !== kept)
      await removePlacements(sql, locked, each.folder_id, [each.uid], { onlyDeleted: false, purge: false });
}

async function onPlacements(
  db: Database,
  notifier: MailNotifier,
  mailboxId: string,
  messageId: string,
  target: string | undefined,
  work: (sql: Sql, locked: LockedFolders, placed: readonly Placed[], targetId: number | undefined) => Promise<void>,
): Promise<boolean> {
  const attempt = (lockAll: boolean) =>
    db.transaction(async (sql): Promise<'moved' | { known: boolean; changed: number[] }> => {
      const before = await sql.query<Placed>(PLACEMENTS, [messageId, mailboxId]);
      if (before.length === 0 && !lockAll) return 'moved';
      const targetId = target === undefined ? undefined : await folderIdOf(sql, mailboxId, target);
      const folderIds = lockAll
        ? (await sql.query<{ id: number }>(ALL_FOLDERS, [mailboxId])).map(({ id }) => id)
        : before.map(({ folder_id }) => folder_id);
      // Sent together: the second is executed under the locks of the first.
      const [locked, placed] = await Promise.all([
        lockFolders(sql, mailboxId, targetId === undefined ? folderIds : [...folderIds, targetId]),
        sql.query<Placed>(PLACEMENTS, [messageId, mailboxId]),
      ]);
      if (placed.some(({ folder_id }) => !locked.folders.has(folder_id))) return 'moved';
      const modseqs = new Map([...locked.folders.values()].map(({ id, modseq }) => [id, modseq]));
      await work(sql, locked, placed, targetId);
      const changed = [...locked.folders.values()].filter(({ id, modseq }) => modseqs.get(id) !== modseq);
      return { known: placed.length > 0, changed: changed.map(({ id }) => id) };
    });
  let outcome = await attempt(false);
  // A client moved it before its folders were locked. In a locked mailbox it cannot be moved.
  if (outcome === 'moved') outcome = await attempt(true);
  if (outcome === 'moved') throw new Error('a message is in a folder that was created at this moment');
  notifier.changed(outcome.changed);
  return outcome.known;
}

/** @param target name, or `\Trash`, the folder with this special use, whatever its name */
export async function folderIdOf(sql: Sql, mailboxId: string, target: string): Promise<number> {
  const [row] = await sql.query<{ id: number }>(FIND_TARGET, [mailboxId, folderName(target).key, target]);
  if (row === undefined) throw noFolder();
  return row.id;
}

const PLACEMENTS = `
  select p.folder_id, p.uid, s.flags, s.keywords
    from placement p join placement_state s on s.folder_id = p.folder_id and s.uid = p.uid
    join folder f on f.id = p.folder_id
   where p.message_id = $1 and f.mailbox_id = $2 and f.deleted_at is null
   order by p.folder_id, p.uid`;

export const ALL_FOLDERS = `select id from folder where mailbox_id = $1 and deleted_at is null`;

const FIND_TARGET = `
  select id from folder where mailbox_id = $1 and deleted_at is null and (name_key = $2 or special_use = $3)`;

export interface MessagesChange {
  readonly seen?: boolean;
  readonly flagged?: boolean;
  readonly addLabels?: readonly string[];
  readonly removeLabels?: readonly string[];
  /** Name of the only folder that contains them afterwards. */
  readonly folder?: string;
  /** `trash`: messages that are in the trash already are removed permanently. No other change is made then. */
  readonly delete?: 'trash' | 'permanent';
}

interface PlacedMessage {
  readonly message_id: string;
  readonly folder_id: number;
  readonly uid: number;
}

/**
 * @returns the ids of those that the mailbox has, in no order
 * @throws {StoreRefused} no-folder; limit of labels; then nothing is changed
 */
export async function changeMessages(
  db: Database,
  notifier: MailNotifier,
  mailboxId: string,
  messageIds: readonly string[],
  change: MessagesChange,
): Promise<string[]> {
  const attempt = (lockAll: boolean) =>
    db.transaction(async (sql): Promise<'moved' | { known: string[]; changed: number[] }> => {
      const before = lockAll ? [] : await sql.query<PlacedMessage>(PLACEMENTS_OF_MESSAGES, [messageIds, mailboxId]);
      if (before.length === 0 && !lockAll) return { known: [], changed: [] };
      const target = change.delete === 'trash' ? '\\Trash' : change.folder;
      const targetId = target === undefined ? undefined : await folderIdOf(sql, mailboxId, target);
      const folderIds = lockAll
        ? (await sql.query<{ id: number }>(ALL_FOLDERS, [mailboxId])).map(({ id }) => id)
        : before.map(({ folder_id }) => folder_id);
      // Sent together: the second is executed under the locks of the first.
      const [locked, placed] = await Promise.all([
        lockFolders(sql, mailboxId, [...new Set(targetId === undefined ? folderIds : [...folderIds, targetId])]),
        sql.query<PlacedMessage>(PLACEMENTS_OF_MESSAGES, [messageIds, mailboxId]),
      ]);
      if (placed.some(({ folder_id }) => !locked.folders.has(folder_id))) return 'moved';
      const modseqs = new Map([...locked.folders.values()].map(({ id, modseq }) => [id, modseq]));
      if (change.delete === 'permanent') await remove(sql, locked, placed, true);
      else if (change.delete === 'trash') await moveToTrash(sql, locked, placed, targetId);
      else {
        await changeStates(sql, locked, placed, change);
        if (targetId !== undefined) await moveAll(sql, locked, placed, targetId);
      }
      const changed = [...locked.folders.values()].filter(({ id, modseq }) => modseqs.get(id) !== modseq);
      return { known: [...new Set(placed.map(({ message_id }) => message_id))], changed: changed.map(({ id }) => id) };
    });
  let outcome = await attempt(false);
  // A client moved a message before its folders were locked. While the mailbox is locked, that cannot happen.
  if (outcome === 'moved') outcome = await attempt(true);
  if (outcome === 'moved') throw new Error('a message is in a folder that was created at this moment');
  notifier.changed(outcome.changed);
  return outcome.known;
}

function byFolder(placed: readonly PlacedMessage[]): Map<number, number[]> {
  const uids = new Map<number, number[]>();
  for (const { folder_id: folderId, uid } of placed) uids.set(folderId, [...(uids.get(folderId) ?? []), uid]);
  return uids;
}

async function changeStates(
  sql: Sql,
  locked: LockedFolders,
  placed: readonly PlacedMessage[],
  { seen, flagged, addLabels = [], removeLabels = [] }: MessagesChange,
): Promise<void> {
  const bits = (wanted: boolean): number =>
    (seen === wanted ? MAIL_FLAGS.seen : 0) | (flagged === wanted ? MAIL_FLAGS.flagged : 0);
  const steps = [
    { change: 'remove', flags: bits(false), keywords: removeLabels },
    { change: 'add', flags: bits(true), keywords: addLabels },
  ] as const;
  for (const [folderId, uids] of byFolder(placed))
    for (const step of steps)
      if (step.flags !== 0 || step.keywords.length > 0)
        await storeFlags(sql, locked, { folderId, uids, ...step, unchangedSince: null });
}

async function remove(
  sql: Sql,
  locked: LockedFolders,
  placed: readonly PlacedMessage[],
  purge: boolean,
): Promise<void> {
  for (const [folderId, uids] of byFolder(placed))
    await removePlacements(sql, locked, folderId, uids, { onlyDeleted: false, purge });
}

/** Leaves one placement of each message, in this folder. */
async function moveAll(
  sql: Sql,
  locked: LockedFolders,
  placed: readonly PlacedMessage[],
  targetId: number,
): Promise<void> {
  const kept = new Map<string, PlacedMessage>();
  for (const each of placed)
    if (each.folder_id === targetId && !kept.has(each.message_id)) kept.set(each.message_id, each);
  const copied = new Map<string, PlacedMessage>();
  for (const each of placed)
    if (!kept.has(each.message_id) && !copied.has(each.message_id)) copied.set(each.message_id, each);
  for (const [folderId, uids] of byFolder([...copied.values()]))
    await copyPlacements(sql, locked, folderId, uids, targetId, { moving: true, complete: false });
  const left = placed.filter((each) => kept.get(each.message_id) !== each);
  await remove(sql, locked, left, false);
}

/** Those that are only in the trash already are removed permanently. */
async function moveToTrash(
  sql: Sql,
  locked: LockedFolders,
  placed: readonly PlacedMessage[],
  trashId: number | undefined,
): Promise<void> {
  if (trashId === undefined) return;
  const elsewhere = new Set(placed.filter((each) => each.folder_id !== trashId).map(({ message_id }) => message_id));
  await remove(
    sql,
    locked,
    placed.filter(({ message_id }) => !elsewhere.has(message_id)),
    true,
  );
  const moving = placed.filter(({ message_id }) => elsewhere.has(message_id));
  await moveAll(sql, locked, moving, trashId);
}

const PLACEMENTS_OF_MESSAGES = `
  select p.message_id, p.folder_id, p.uid
    from placement p join folder f on f.id = p.folder_id
   where p.message_id = any($1::text[]) and f.mailbox_id = $2 and f.deleted_at is null
   order by p.folder_id, p.uid`;
