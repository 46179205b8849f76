/** What COPY and MOVE share: which messages, and where to. */
import { type CopiedUids, type Folder, StoreRefused } from '../store/interface.ts';
import { type ParseContext, Refusal } from './command.ts';
import { existingName, folderName, type WireName } from './folder-names.ts';
import type { Scanner } from './parser.ts';
import { parseSequenceSet, printSet, type SequenceSet } from './sequence-set.ts';
import type { Session } from './session.ts';

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

/** @throws {Refusal} EXPUNGEISSUED when a message named by its number is gone, TRYCREATE */
export async function transferTarget(
  session: Session,
  { set, name }: TransferArguments,
  uid: boolean,
): Promise<{ folder: Folder; uids: number[]; complete: boolean }> {
  const { selected } = session;
  const all = selected.indices(set, uid).map((index) => selected.map.uidAt(index));
  // By number all or none: the client must hear of what is gone. UIDs and `$` name what is still there.
  const complete = !uid && set.kind !== 'saved';
  if (selected.stale || complete) await selected.refresh();
  const uids = all.filter((each) => !selected.isGone(each));
  if (complete && uids.length < all.length) throw new Refusal('EXPUNGEISSUED', 'Some of the messages are gone');
  const folder = await session.store.folder(existingName(name));
  if (folder === undefined) throw new Refusal('TRYCREATE', 'No such folder');
  return { folder, uids, complete };
}

/**
 * What the store says of a transfer. The target may have been deleted since it was looked up, and a message removed.
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
