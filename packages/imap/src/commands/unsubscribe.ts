import { command, LOGGED_IN } from '#imap/command.ts';
import { existingName, folderName } from '#imap/folders/folder-names.ts';
import { ok } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

/** UNSUBSCRIBE (RFC 9051 §6.3.8). */
export const unsubscribe = command({
  verb: 'UNSUBSCRIBE',
  states: LOGGED_IN,
  args(scan: Scanner, context: ParseContext) {
    scan.space();
    return folderName(scan, context);
  },
  async run({ session }, name) {
    await session.store.subscribe(existingName(name), false);
    return ok('UNSUBSCRIBE completed');
  },
});
