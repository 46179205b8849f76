import { command, ok, type ParseContext, SELECTED } from '#imap/command.ts';
import { parseFetchItems, parseFetchModifiers } from '#imap/fetch/fetch-items.ts';
import { fetchMessages } from '#imap/fetch/fetch-messages.ts';
import { QRESYNC_NOT_ENABLED, vanishedEarlier } from '#imap/folders/open-folder.ts';
import { parseSequenceSet } from '#imap/session/sequence-set.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** FETCH (RFC 9051 §6.4.5) with CHANGEDSINCE and VANISHED (RFC 7162). */
export const fetch = command({
  verb: 'FETCH',
  states: SELECTED,
  uid: true,
  reports: 'no-expunge',
  args(scan: Scanner, { uid }: ParseContext) {
    scan.space();
    const set = parseSequenceSet(scan);
    scan.space();
    const items = parseFetchItems(scan);
    const { changedSince, vanished } = parseFetchModifiers(scan, uid);
    return { set, items, changedSince, vanished };
  },
  async run({ session, uid }, { set, items, changedSince, vanished }) {
    if (vanished && !session.qresync) return QRESYNC_NOT_ENABLED;
    const { selected, out } = session;
    const withModseq = items.some((item) => item.kind === 'simple' && item.name === 'MODSEQ');
    if (changedSince !== null || withModseq) session.useCondstore();
    if (changedSince !== null && selected.stale) {
      await selected.refresh();
      await selected.reportNew(out, session);
    }
    const { map } = selected;
    if (vanished && changedSince !== null) {
      const known = set.kind === 'ranges' ? set.ranges : [...selected.saved].map((each) => [each, each] as const);
      const earlier = await vanishedEarlier(session, selected, changedSince, known);
      if (earlier !== '') out.line(`* VANISHED (EARLIER) ${earlier}`);
    }
    const all = selected.indices(set, uid);
    const indices = changedSince === null ? all : all.filter((index) => map.modseqAt(index) > changedSince);
    const missing = await fetchMessages(session, indices, items, uid, changedSince !== null);
    return missing > 0 && !uid ? ok('Some of the messages have been removed', 'EXPUNGEISSUED') : ok('FETCH completed');
  },
});
