import { command, noArguments, ok, SELECTED } from '../command.ts';

/** CLOSE (RFC 9051 §6.4.1): removes what is marked \Deleted, in silence, unless the folder is open for reading only. */
export const close = command({
  verb: 'CLOSE',
  states: SELECTED,
  telling: 'nothing',
  args: noArguments,
  async run({ session }) {
    const { folder, readOnly } = session.selected;
    let code: string | undefined;
    if (!readOnly) {
      const { highestModseq } = await session.store.expunge(folder.id, null);
      // RFC 7162 §3.2.8
      if (session.qresync) code = `HIGHESTMODSEQ ${highestModseq}`;
    }
    session.leave();
    return ok('CLOSE completed', code);
  },
});
