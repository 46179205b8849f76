import { command, LOGGED_IN } from '#imap/command.ts';
import { folderName, newFolderName } from '#imap/folders/folder-names.ts';
import { ok } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

/** SUBSCRIBE (RFC 9051 §6.3.7). Names are subscribed, not folders: they need not exist. */
export const subscribe = command({
  verb: 'SUBSCRIBE',
  states: LOGGED_IN,
  args(scan: Scanner, context: ParseContext) {
    scan.space();
    return folderName(scan, context);
  },
  async run({ session }, name) {
    await session.store.subscribe(newFolderName(name), true);
    return ok('SUBSCRIBE completed');
  },
});
