/** SELECT and EXAMINE: opening a folder, with CONDSTORE and quick resynchronization (RFC 7162). */
import { MAIL_FLAGS } from '../../domain/mail-flags.ts';
import type { FolderView } from '../store/interface.ts';
import { isHidden } from './capabilities.ts';
import { bad, type Completion, ok, type ParseContext, Refusal } from './command.ts';
import { SYSTEM_FLAGS } from './flags.ts';
import { existingName, folderName, type WireName } from './folder-names.ts';
import { listFolders, listLine } from './list-folders.ts';
import type { Scanner } from './parser.ts';
import { SelectedFolder } from './selected-folder.ts';
import { missingRanges, normalize, parseSequenceSet, printRanges, printSet, type Range } from './sequence-set.ts';
import type { Session } from './session.ts';

interface Resync {
  readonly uidValidity: number;
  readonly modseq: number;
  /** UIDs the client knows; null: all. */
  readonly known: readonly Range[] | null;
}

export interface SelectArguments {
  readonly name: WireName;
  readonly condstore: boolean;
  readonly resync: Resync | null;
}

export function selectArguments(scan: Scanner, context: ParseContext): SelectArguments {
  scan.space();
  const name = folderName(scan, context);
  let condstore = false;
  let resync: Resync | null = null;
  if (scan.skip(' '))
    scan.list(() => {
      const parameter = scan.word();
      if (parameter === 'CONDSTORE') condstore = true;
      else if (parameter === 'QRESYNC') resync = resyncParameter(scan);
      else scan.fail('CONDSTORE or QRESYNC');
    }, false);
  return { name, condstore, resync };
}

const plainSet = (scan: Scanner): readonly Range[] => {
  const set = parseSequenceSet(scan, false);
  return set.kind === 'ranges' ? set.ranges : [];
};

/** `(uidvalidity modseq [known-uids] [(known-sequence-set known-uid-set)])` */
function resyncParameter(scan: Scanner): Resync {
  scan.expect(' (');
  const uidValidity = scan.number(1);
  scan.space();
  const modseq = scan.number64();
  if (modseq < 1) scan.fail('a MODSEQ above 0');
  let known: readonly Range[] | null = null;
  if (scan.skip(' ')) {
    if (scan.peek() !== '(') {
      known = plainSet(scan);
      if (scan.skip(' ')) matchData(scan);
    } else matchData(scan);
  }
  scan.expect(')');
  return { uidValidity, modseq, known };
}

/** Would let us send fewer VANISHED; what we send is complete without it. */
function matchData(scan: Scanner): void {
  scan.expect('(');
  plainSet(scan);
  scan.space();
  plainSet(scan);
  scan.expect(')');
}

/** What belongs to QRESYNC is BAD before ENABLE QRESYNC (RFC 7162 §3.2.3). */
export const QRESYNC_NOT_ENABLED = bad('ENABLE QRESYNC first', 'CLIENTBUG');

export async function openFolder(session: Session, args: SelectArguments, readOnly: boolean): Promise<Completion> {
  const { out, store } = session;
  if (args.resync !== null && !session.qresync) return QRESYNC_NOT_ENABLED;
  if (session.selectedOrNull !== null) {
    // A failed SELECT too leaves no folder selected.
    session.leave();
    out.line('* OK [CLOSED] The folder before is closed');
  }
  if (args.condstore) session.condstore = true;
  const found = await store.folder(existingName(args.name));
  if (found === undefined) throw new Refusal('NONEXISTENT', 'No such folder');
  const watch = session.watch(found.id);
  let view: FolderView | undefined;
  try {
    view = await store.view(found.id, !readOnly);
  } finally {
    if (view === undefined) watch.stop();
  }
  if (view === undefined) throw new Refusal('NONEXISTENT', 'No such folder');
  const { folder } = view;
  const selected = new SelectedFolder(store, view, watch, readOnly);
  session.open(selected);

  const keywords = new Map<string, string>();
  for (const list of view.keywords.values()) for (const word of list) keywords.set(word.toLowerCase(), word);
  const flags = [SYSTEM_FLAGS, ...keywords.values()].join(' ');
  out.line(`* FLAGS (${flags})`);
  out.line(`* ${selected.map.count} EXISTS`);
  if (!session.rev2) out.line(`* ${selected.recentCount} RECENT`);
  if (!session.rev2) {
    const unseen = view.flags.findIndex((bits) => (bits & MAIL_FLAGS.seen) === 0);
    if (unseen >= 0) out.line(`* OK [UNSEEN ${unseen + 1}] First unseen message`);
  }
  out.line(
    readOnly
      ? '* OK [PERMANENTFLAGS ()] Nothing can be changed'
      : `* OK [PERMANENTFLAGS (${flags} \\*)] Flags that last`,
  );
  out.line(`* OK [UIDVALIDITY ${folder.uidValidity}] UIDs valid`);
  out.line(`* OK [UIDNEXT ${folder.uidNext}] Next UID`);
  if (!isHidden(session, 'CONDSTORE') || session.condstore)
    out.line(`* OK [HIGHESTMODSEQ ${folder.highestModseq}] Highest`);
  out.line(`* OK [MAILBOXID (${folder.objectId})] Mailbox id`);
  if (session.rev2) await tellListed(session, folder.name);
  if (args.resync !== null && args.resync.uidValidity === folder.uidValidity)
    await resynchronize(session, selected, args.resync);
  return ok(`${readOnly ? 'EXAMINE' : 'SELECT'} completed`, readOnly ? 'READ-ONLY' : 'READ-WRITE');
}

/** The LIST line of the folder (RFC 9051 §6.3.2), with the attributes that LIST shows: clients keep those of the last. */
async function tellListed(session: Session, name: string): Promise<void> {
  const selection = { subscribed: false, recursiveMatch: false, specialUse: false };
  const wanted = { subscribed: false, children: true, specialUse: true };
  for (const listed of listFolders(await session.store.folders(), [], [name], selection))
    if (listed.name === name) session.out.line(listLine(session, listed, selection, wanted));
}

/** Tells what vanished and what changed since: VANISHED (EARLIER) before the FETCHes. */
async function resynchronize(session: Session, selected: SelectedFolder, { modseq, known }: Resync): Promise<void> {
  const { out } = session;
  const earlier = await vanishedEarlier(session, selected, modseq, known);
  if (earlier !== '') out.line(`* VANISHED (EARLIER) ${earlier}`);
  const { map } = selected;
  const wanted = known === null ? null : normalize(known, map.lastUid);
  const indices = wanted === null ? Array.from({ length: map.count }, (_, i) => i) : map.indicesOfUids(wanted);
  for (const index of indices) {
    if (map.modseqAt(index) <= modseq) continue;
    out.line(selected.flagsLine(index, session, true));
    if (out.full) await out.ready();
  }
}

/**
 * UIDs among `known` (null: all below UIDNEXT) that vanished since a MODSEQ, printed. Where the store does not
 * remember that far, all that are not there: more than needed, never less.
 */
export async function vanishedEarlier(
  session: Session,
  selected: SelectedFolder,
  since: number,
  known: readonly Range[] | null,
): Promise<string> {
  const last = selected.uidNext - 1;
  if (last < 1) return '';
  const within = normalize(known ?? [[1, last]], Math.max(1, selected.map.lastUid))
    .filter(([low]) => low <= last)
    .map(([low, high]): Range => [low, Math.min(high, last)]);
  const vanished = await session.store.vanishedSince(selected.folder.id, since);
  if (vanished === 'too-old') return printRanges(missingRanges(within, selected.map.uids));
  const gone = missingRanges(within, selected.map.uids);
  let at = 0;
  return printSet(
    vanished.filter((uid) => {
      while (at < gone.length && (gone[at]?.[1] ?? 0) < uid) at++;
      return uid >= (gone[at]?.[0] ?? Number.POSITIVE_INFINITY);
    }),
  );
}
