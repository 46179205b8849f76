/** What COPY and MOVE share: which messages, and where to. */
import type { CopiedUids, Folder } from '../store/interface.ts';
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
): Promise<{ folder: Folder; uids: number[] }> {
  const { selected } = session;
  const all = selected.indices(set, uid).map((index) => selected.map.uidAt(index));
  // By number the client must hear of what is gone; word of another process may be under way, so the store is asked.
  if (selected.stale || !uid) await selected.refresh();
  const uids = all.filter((each) => !selected.isGone(each));
  if (!uid && set.kind !== 'saved' && uids.length < all.length)
    throw new Refusal('EXPUNGEISSUED', 'Some of the messages are gone');
  const folder = await session.store.folder(existingName(name));
  if (folder === undefined) throw new Refusal('TRYCREATE', 'No such folder');
  return { folder, uids };
}

export const copyUidCode = ({ uidValidity, from, to }: CopiedUids): string | undefined =>
  from.length === 0 ? undefined : `COPYUID ${uidValidity} ${printSet(from)} ${printSet(to)}`;
