import { command, noArguments, SELECTED } from '#imap/command.ts';
import { ok } from '#imap/wire/completion.ts';

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
