import { command, LOGGED_IN } from '#imap/command.ts';
import { openFolder, selectArguments } from '#imap/folders/open-folder.ts';

/** EXAMINE (RFC 9051 §6.3.3). */
export const examine = command({
  verb: 'EXAMINE',
  states: LOGGED_IN,
  reports: 'nothing',
  args: selectArguments,
  run: ({ session }, args) => openFolder(session, args, 'EXAMINE'),
});
