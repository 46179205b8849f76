/**
 * Changing messages as REST sees them: a message with labels, wherever it is placed. Every placement of every message is
 * changed, in one transaction, so that IMAP clients see the same. One statement changes the flags and labels of a folder, so
 * the number of messages costs little.
 */
import type { Database, Sql } from '#db/database.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import { folderName } from '#mailstore/folders/folders.ts';
import { type LockedFolders, lockFolders, noFolder } from '#mailstore/folders/lock-folders.ts';
import { copyPlacements, removePlacements } from '#mailstore/folders/placements.ts';
import { storeFlags } from '#mailstore/folders/store-flags.ts';

export interface MessagesChange {
  readonly seen?: boolean;
  readonly flagged?: boolean;
  /** All labels that each has afterwards. */
  readonly labels?: readonly string[];
  readonly addLabels?: readonly string[];
  readonly removeLabels?: readonly string[];
  /** Name, case-insensitive, of the only folder that contains them afterwards. */
  readonly folder?: string;
  /**
   * `trash`: messages that are only in the trash already are removed permanently; `permanent`: all are. No other change is
   * made then.
   */
  readonly delete?: 'trash' | 'permanent';
}

interface PlacedMessage {
  readonly message_id: string;
  readonly folder_id: number;
  readonly uid: number;
  readonly flags: number;
}

/** @param target name, or `\Trash`, the folder with this special use, whatever its name */
async function folderIdOf(sql: Sql, mailboxId: string, target: string): Promise<number> {
  const [row] = await sql.query<{ id: number }>(FIND_TARGET, [mailboxId, folderName(target).key, target]);
  if (row === undefined) throw noFolder();
  return row.id;
}

const PLACEMENTS = `
  select p.message_id, p.folder_id, p.uid, s.flags
    from placement p join placement_state s on s.folder_id = p.folder_id and s.uid = p.uid
    join folder f on f.id = p.folder_id
   where p.message_id = any($1::text[]) and f.mailbox_id = $2 and f.deleted_at is null
   order by p.folder_id, p.uid`;

export const ALL_FOLDERS = `select id from folder where mailbox_id = $1 and deleted_at is null`;

const FIND_TARGET = `
  select id from folder where mailbox_id = $1 and deleted_at is null and (name_key = $2 or special_use = $3)`;

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
      const before = lockAll ? [] : await sql.query<PlacedMessage>(PLACEMENTS, [messageIds, mailboxId]);
      if (before.length === 0 && !lockAll) return { known: [], changed: [] };
      const target = change.delete === 'trash' ? '\\Trash' : change.folder;
      const targetId = target === undefined ? undefined : await folderIdOf(sql, mailboxId, target);
      const folderIds = lockAll
        ? (await sql.query<{ id: number }>(ALL_FOLDERS, [mailboxId])).map(({ id }) => id)
        : before.map(({ folder_id }) => folder_id);
      // Sent together: the second is executed under the locks of the first.
      const [locked, placed] = await Promise.all([
        lockFolders(sql, mailboxId, [...new Set(targetId === undefined ? folderIds : [...folderIds, targetId])]),
        sql.query<PlacedMessage>(PLACEMENTS, [messageIds, mailboxId]),
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
  { seen, flagged, labels, addLabels = [], removeLabels = [] }: MessagesChange,
): Promise<void> {
  const bits = (wanted: boolean): number =>
    (seen === wanted ? MAIL_FLAGS.seen : 0) | (flagged === wanted ? MAIL_FLAGS.flagged : 0);
  const [removed, added] = [bits(false), bits(true)];
  if (labels !== undefined) {
    for (const { folder_id: folderId, uid, flags } of placed)
      await storeFlags(sql, locked, {
        folderId,
        uids: [uid],
        change: 'replace',
        flags: (flags & ~removed) | added,
        keywords: labels,
        unchangedSince: null,
      });
    return;
  }
  const steps = [
    { change: 'remove', flags: removed, keywords: removeLabels },
    { change: 'add', flags: added, keywords: addLabels },
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
