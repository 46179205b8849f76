import { command, noArguments, SELECTED } from '#imap/command.ts';
import { ok } from '#imap/wire/completion.ts';

/**
 * CLOSE (RFC 9051 §6.4.1): removes messages marked \Deleted, without EXPUNGE responses, unless the folder is open
 * read-only.
 */
export const close = command({
  verb: 'CLOSE',
  states: SELECTED,
  reports: 'nothing',
  args: noArguments,
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
