import { command, noArguments, ok, SELECTED } from '#imap/command.ts';

/** UNSELECT (RFC 9051 §6.4.2): leaves the folder and removes nothing. */
export const unselect = command({
  verb: 'UNSELECT',
  states: SELECTED,
  reports: 'nothing',
  args: noArguments,
  run({ session }) {
    session.leave();
    return ok('UNSELECT completed');
  },
});
