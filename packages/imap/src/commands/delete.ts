import { command, LOGGED_IN } from '#imap/command.ts';
import { existingName, folderName } from '#imap/folders/folder-names.ts';
import { reportNormalizedGone } from '#imap/folders/list-folders.ts';
import { ok, Refusal } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

/** DELETE (RFC 9051 §6.3.5). Deleting the selected folder leaves none selected. */
export const deleteFolder = command({
  verb: 'DELETE',
  states: LOGGED_IN,
  args(scan: Scanner, context: ParseContext) {
    scan.space();
    return folderName(scan, context);
  },
  async run({ session }, wire) {
    const name = existingName(wire);
    const folder = await session.store.folder(name);
    if (folder === undefined) throw new Refusal('NONEXISTENT', 'No such folder');
    await session.store.deleteFolder(name);
    if (session.selectedOrNull?.folder.id === folder.id) {
      session.leave();
      session.out.line('* OK [CLOSED] The selected folder was deleted');
    }
    reportNormalizedGone(session, name, wire.oldName);
    return ok('DELETE completed');
  },
});
