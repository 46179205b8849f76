/** Shared by COPY and MOVE: the messages and the target. */
import { type CopiedUids, type Folder, StoreRefused } from '@agent-mailbox/mail-store';
import { type ParseContext, Refusal } from '#imap/command.ts';
import { parseSequenceSet, printSet, type SequenceSet } from '#imap/session/sequence-set.ts';
import type { Session } from '#imap/session/session.ts';
import type { Scanner } from '#imap/wire/parser.ts';
import { existingName, folderName, type WireName } from './folder-names.ts';

export interface TransferArguments {
  readonly set: SequenceSet;
  readonly name: WireName;
}

export function transferArguments(scan: Scanner, context: ParseContext): TransferArguments {
  scan.space();
  const set = parseSequenceSet(scan);
  scan.space();
  return { set, name: folderName(scan, context) };
}

/** @throws {Refusal} EXPUNGEISSUED if a message given by its number was removed, TRYCREATE */
export async function transferTarget(
  session: Session,
  { set, name }: TransferArguments,
  uid: boolean,
): Promise<{ folder: Folder; uids: number[]; complete: boolean }> {
  const { selected } = session;
  const all = selected.indices(set, uid).map((index) => selected.map.uidAt(index));
  // By number all or none: the client must first learn of removals. UIDs and `$` select the messages that still exist.
  const complete = !uid && set.kind !== 'saved';
  if (selected.stale || complete) await selected.refresh();
  const uids = all.filter((each) => !selected.isGone(each));
  if (complete && uids.length < all.length)
    throw new Refusal('EXPUNGEISSUED', 'Some of the messages have been removed');
  const folder = await session.store.folder(existingName(name));
  if (folder === undefined) throw new Refusal('TRYCREATE', 'No such folder');
  return { folder, uids, complete };
}

/**
 * The result of the store for a transfer. Since the look-up, the target may have been deleted or a message removed.
 *
 * @throws {Refusal} TRYCREATE
 */
export async function transfer<Result>(session: Session, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error;
    session.selected.stale = true;
    if (error.refusal === 'no-folder') throw new Refusal('TRYCREATE', 'No such folder');
    throw error;
  }
}

export const copyUidCode = ({ uidValidity, from, to }: CopiedUids): string | undefined =>
  from.length === 0 ? undefined : `COPYUID ${uidValidity} ${printSet(from)} ${printSet(to)}`;
