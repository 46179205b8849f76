import { command, SELECTED } from '#imap/command.ts';
import { parseSequenceSet } from '#imap/session/sequence-numbers.ts';
import { ok } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

/** EXPUNGE (RFC 9051 §6.4.3) and UID EXPUNGE (UIDPLUS, RFC 4315). */
export const expunge = command({
  verb: 'EXPUNGE',
  states: SELECTED,
  uid: true,
  needs: 'write',
  args(scan: Scanner, { uid }: ParseContext) {
    if (!uid) return null;
    scan.space();
    return parseSequenceSet(scan);
  },
  async run({ session }, set) {
    const { selected, store } = session;
    // Includes messages that other sessions marked since: the store decides which are \Deleted.
    const uids = set === null ? null : selected.indices(set, true).map((index) => selected.map.uidAt(index));
    const removed = await store.expunge(selected.folder.id, uids);
    for (const uid of removed.uids) selected.markGone(uid);
    await selected.refresh();
    return ok(
      'EXPUNGE completed',
      session.condstore && removed.uids.length > 0 ? `HIGHESTMODSEQ ${selected.highestModseq}` : undefined,
    );
  },
});
