import { command, noArguments, ok, SELECTED } from '../command.ts';

/** CLOSE (RFC 9051 §6.4.1): removes what is marked \Deleted, in silence, unless the folder is open for reading only. */
export const close = command({
  verb: 'CLOSE',
  states: SELECTED,
  telling: 'nothing',
  args: noArguments,
  async run({ session }) {
    const { selected } = session;
    let code: string | undefined;
    if (!selected.readOnly) {
      if (session.qresync) {
        selected.stale = true;
        await session.tellChanges(true, false);
      }
      const { uids, highestModseq } = await session.store.expunge(selected.folder.id, null);
      // RFC 7162 §3.2.8; not when others changed something in between, which the client would never ask for again.
      if (session.qresync && uids.length > 0 && highestModseq === selected.highestModseq + 1)
        code = `HIGHESTMODSEQ ${highestModseq}`;
    }
    session.leave();
    return ok('CLOSE completed', code);
  },
});
