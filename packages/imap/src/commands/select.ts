/**
 * SELECT and EXAMINE open a folder, with CONDSTORE and quick resynchronization (RFC 7162); UNSELECT and CLOSE leave it.
 */

import type { FolderView } from '@agent-mailbox/mail-store';
import { MAIL_FLAGS } from '@agent-mailbox/mail-store/flags';
import { command, LOGGED_IN, plainCommand, SELECTED } from '#imap/command.ts';
import { isHidden } from '#imap/session/capabilities.ts';
import { SelectedFolder } from '#imap/session/selected-folder.ts';
import { normalize, parseSequenceSet, type Range } from '#imap/session/sequence-numbers.ts';
import type { Session } from '#imap/session/session.ts';
import { bad, type Completion, ok, Refusal } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';
import { folderName, type WireName } from '#imap/wire/values.ts';
import { reportFolder } from './list.ts';

interface Resync {
  readonly uidValidity: number;
  readonly modseq: number;
  /** UIDs the client knows; null: all. */
  readonly known: readonly Range[] | null;
}

interface SelectArguments {
  readonly name: WireName;
  readonly condstore: boolean;
  readonly resync: Resync | null;
}

function selectArguments(scan: Scanner, context: ParseContext): SelectArguments {
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

/** Would allow sending fewer VANISHED; the response is complete without it. */
function matchData(scan: Scanner): void {
  scan.expect('(');
  plainSet(scan);
  scan.space();
  plainSet(scan);
  scan.expect(')');
}

/** Parameters of QRESYNC are BAD before ENABLE QRESYNC (RFC 7162 §3.2.3). */
export const QRESYNC_NOT_ENABLED = bad('ENABLE QRESYNC first', 'CLIENTBUG');

/** @param verb for a login that may only read, SELECT opens the folder read-only too (RFC 9051 §6.3.2) */
async function openFolder(session: Session, args: SelectArguments, verb: 'SELECT' | 'EXAMINE'): Promise<Completion> {
  const { out, store } = session;
  const readOnly = verb === 'EXAMINE' || store.readOnly === true;
  if (args.resync !== null && !session.qresync) return QRESYNC_NOT_ENABLED;
  if (session.selectedOrNull !== null) {
    // A failed SELECT too leaves no folder selected.
    session.leave();
    out.line('* OK [CLOSED] The folder before is closed');
  }
  if (args.condstore) session.condstore = true;
  const found = await session.folder(args.name);
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

  out.line(selected.flagsAnswer());
  out.line(`* ${selected.map.count} EXISTS`);
  if (!session.rev2) {
    out.line(`* ${selected.recentCount} RECENT`);
    const unseen = view.flags.findIndex((bits) => (bits & MAIL_FLAGS.seen) === 0);
    if (unseen >= 0) out.line(`* OK [UNSEEN ${unseen + 1}] First unseen message`);
  }
  out.line(selected.permanentFlagsAnswer());
  out.line(`* OK [UIDVALIDITY ${folder.uidValidity}] UIDs valid`);
  out.line(`* OK [UIDNEXT ${folder.uidNext}] Next UID`);
  if (!isHidden(session, 'CONDSTORE') || session.condstore)
    out.line(`* OK [HIGHESTMODSEQ ${folder.highestModseq}] Highest`);
  out.line(`* OK [MAILBOXID (${folder.objectId})] Mailbox id`);
  if (session.rev2) await reportFolder(session, folder.name, args.name.oldName);
  if (args.resync !== null && args.resync.uidValidity === folder.uidValidity)
    await resynchronize(session, selected, args.resync);
  return ok(`${verb} completed`, readOnly ? 'READ-ONLY' : 'READ-WRITE');
}

/** Reports removals and changes since then: VANISHED (EARLIER) before the FETCHes. */
async function resynchronize(session: Session, selected: SelectedFolder, { modseq, known }: Resync): Promise<void> {
  const { out } = session;
  const earlier = await selected.vanishedEarlier(modseq, known);
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

/** SELECT (RFC 9051 §6.3.2). */
const select = command({
  verb: 'SELECT',
  states: LOGGED_IN,
  reports: 'nothing',
  args: selectArguments,
  run: ({ session }, args) => openFolder(session, args, 'SELECT'),
});

/** EXAMINE (RFC 9051 §6.3.3). */
const examine = command({
  verb: 'EXAMINE',
  states: LOGGED_IN,
  reports: 'nothing',
  args: selectArguments,
  run: ({ session }, args) => openFolder(session, args, 'EXAMINE'),
});

/** UNSELECT (RFC 9051 §6.4.2): leaves the folder and removes nothing. */
const unselect = plainCommand({
  verb: 'UNSELECT',
  states: SELECTED,
  reports: 'nothing',
  run({ session }) {
    session.leave();
    return ok('UNSELECT completed');
  },
});

/**
 * CLOSE (RFC 9051 §6.4.1): removes messages marked \Deleted, without EXPUNGE responses, unless the folder is open
 * read-only.
 */
const close = plainCommand({
  verb: 'CLOSE',
  states: SELECTED,
  reports: 'nothing',
  async run({ session }) {
    const { selected } = session;
    let code: string | undefined;
    if (!selected.readOnly) {
      if (session.qresync) {
        selected.stale = true;
        await session.reportChanges(true, false);
      }
      const { uids, highestModseq } = await session.store.expunge(selected.folder.id, null);
      // RFC 7162 §3.2.8; not if others changed something in between, because the client would never fetch that change.
      if (session.qresync && uids.length > 0 && highestModseq === selected.highestModseq + 1)
        code = `HIGHESTMODSEQ ${highestModseq}`;
    }
    session.leave();
    return ok('CLOSE completed', code);
  },
});

export const SELECT_COMMANDS = [select, examine, unselect, close];
