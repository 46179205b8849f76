/**
 * STORE changes flags and keywords of messages; EXPUNGE removes those that are marked \Deleted.
 */
import type { FlagChange, PlacementState } from '@agent-mailbox/mail-store';
import { command, SELECTED } from '#imap/command.ts';
import type { SelectedFolder } from '#imap/session/selected-folder.ts';
import { parseSequenceSet, printSet } from '#imap/session/sequence-numbers.ts';
import { type Completion, ok } from '#imap/wire/completion.ts';
import type { Scanner } from '#imap/wire/parser.ts';
import { checkKeywords, type FlagSet, parseFlags, sameKeywords } from '#imap/wire/values.ts';

const CHANGES: Record<string, FlagChange> = { FLAGS: 'replace', '+FLAGS': 'add', '-FLAGS': 'remove' };

function storeArguments(scan: Scanner) {
  scan.space();
  const set = parseSequenceSet(scan);
  scan.space();
  let unchangedSince: number | null = null;
  if (scan.skip('(')) {
    scan.expect('UNCHANGEDSINCE ');
    unchangedSince = scan.number64();
    scan.expect(') ');
  }
  const item = scan.word();
  const silent = item.endsWith('.SILENT');
  const change = CHANGES[silent ? item.slice(0, -'.SILENT'.length) : item] ?? scan.fail('FLAGS');
  scan.space();
  return { set, unchangedSince, change, silent, wanted: parseFlags(scan, true) };
}

/** STORE (RFC 9051 §6.4.6) with UNCHANGEDSINCE (RFC 7162 §3.1.3). */
const store = command({
  verb: 'STORE',
  states: SELECTED,
  uid: true,
  needs: 'write',
  reports: 'no-expunge',
  args: storeArguments,
  async run({ session, uid }, { set, unchangedSince, change, silent, wanted }): Promise<Completion> {
    const { selected, out } = session;
    if (unchangedSince !== null) session.useCondstore();
    checkKeywords(wanted.keywords);
    const { map } = selected;
    const all = selected.indices(set, uid).map((index) => map.uidAt(index));
    const uids = all.filter((each) => !selected.isGone(each));
    let gone = all.length - uids.length;
    let modified: readonly number[] = [];
    if (uids.length > 0) {
      const stored = await session.store.storeFlags({
        folderId: selected.folder.id,
        uids,
        change,
        flags: wanted.flags,
        keywords: wanted.keywords,
        unchangedSince,
      });
      ({ modified } = stored);
      gone += stored.missing.length;
      if (stored.missing.length > 0 || modified.length > 0) selected.stale = true;
      for (const state of stored.states) {
        const expected = isAsExpected(selected, state, change, wanted);
        selected.apply(state, true);
        selected.reportKeywords(out);
        selected.markReported(state.uid);
        const index = map.indexOf(state.uid);
        if (index < 0) continue;
        if (!silent || !expected) out.line(selected.flagsLine(index, session, uid));
        else if (session.condstore) out.line(modseqLine(selected, index, uid || session.qresync));
        if (out.full) await out.ready();
      }
    }
    const failed = uid ? modified : modified.map((each) => map.indexOf(each) + 1).filter((number) => number > 0);
    if (modified.length > 0) return ok('Other clients changed some of the messages', `MODIFIED ${printSet(failed)}`);
    return gone > 0 && !uid ? ok('Some of the messages have been removed', 'EXPUNGEISSUED') : ok('STORE completed');
  },
});

/** Whether the client can compute the result itself; if another session changed flags too, the result must be sent. */
function isAsExpected(selected: SelectedFolder, state: PlacementState, change: FlagChange, wanted: FlagSet): boolean {
  const index = selected.map.indexOf(state.uid);
  const before = selected.map.flagsAt(index);
  const named = new Set(wanted.keywords.map((word) => word.toLowerCase()));
  const rest = selected.map.keywordsAt(index).filter((word) => !named.has(word.toLowerCase()));
  switch (change) {
    case 'replace':
      return state.flags === wanted.flags && sameKeywords(state.keywords, wanted.keywords);
    case 'add':
      return state.flags === (before | wanted.flags) && sameKeywords(state.keywords, [...rest, ...wanted.keywords]);
    case 'remove':
      return state.flags === (before & ~wanted.flags) && sameKeywords(state.keywords, rest);
  }
}

const modseqLine = (selected: SelectedFolder, index: number, withUid: boolean): string =>
  `* ${index + 1} FETCH (${withUid ? `UID ${selected.map.uidAt(index)} ` : ''}MODSEQ (${selected.map.modseqAt(index)}))`;

/** EXPUNGE (RFC 9051 §6.4.3) and UID EXPUNGE (UIDPLUS, RFC 4315). */
const expunge = command({
  verb: 'EXPUNGE',
  states: SELECTED,
  uid: true,
  needs: 'write',
  args(scan, { uid }) {
    if (!uid) return null;
    scan.space();
    return parseSequenceSet(scan);
  },
  async run({ session }, set) {
    const { selected, store } = session;
    // Includes messages that other sessions marked since: the store decides which are \Deleted.
    const uids = set === null ? null : selected.indices(set, true).map((index) => selected.map.uidAt(index));
    const removed = await store.expunge(selected.folder.id, uids);
    return ok('EXPUNGE completed', await session.removed(removed.uids));
  },
});

export const STORE_COMMANDS = [store, expunge];
