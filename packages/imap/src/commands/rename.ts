import { command, LOGGED_IN } from '#imap/command.ts';
import { existingName, folderName, newFolderName } from '#imap/folders/folder-names.ts';
import { reportNormalized } from '#imap/folders/list-folders.ts';
import { ok, Refusal } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

/** RENAME (RFC 9051 §6.3.6): children are renamed too; renaming INBOX only moves its messages. */
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
    if (target === 'INBOX') throw new Refusal('ALREADYEXISTS', 'INBOX always exists');
    await session.store.renameFolder(existingName(from), target);
    if (session.selectedOrNull !== null) session.selectedOrNull.stale = true;
    // The old name is sent as it was given, whichever of the two was not in NFC (RFC 9051 §6.3.6).
    if (from.oldName !== undefined || to.oldName !== undefined)
      await reportNormalized(session, target, from.oldName ?? from.name);
    return ok('RENAME completed');
  },
});
