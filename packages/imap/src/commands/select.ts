import { command, LOGGED_IN } from '#imap/command.ts';
import { openFolder, selectArguments } from '#imap/folders/open-folder.ts';

/** SELECT (RFC 9051 §6.3.2). */
export const select = command({
  verb: 'SELECT',
  states: LOGGED_IN,
  reports: 'nothing',
  args: selectArguments,
  run: ({ session }, args) => openFolder(session, args, 'SELECT'),
});
