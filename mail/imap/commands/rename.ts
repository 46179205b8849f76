import { command, LOGGED_IN, ok, type ParseContext, Refusal } from '../command.ts';
import { existingName, folderName, newFolderName } from '../folder-names.ts';
import type { Scanner } from '../parser.ts';

/** RENAME (RFC 9051 §6.3.6): children go along; INBOX only gives its messages away. */
export const rename = command({
  verb: 'RENAME',
  states: LOGGED_IN,
  args(scan: Scanner, context: ParseContext) {
    scan.space();
    const from = folderName(scan, context);
    scan.space();
    return { from, to: folderName(scan, context) };
  },
  async run({ session }, { from, to }) {
    const target = newFolderName(to);
    if (target === 'INBOX') throw new Refusal('ALREADYEXISTS', 'INBOX exists always');
    await session.store.renameFolder(existingName(from), target);
    if (session.selectedOrNull !== null) session.selectedOrNull.stale = true;
    return ok('RENAME completed');
  },
});
