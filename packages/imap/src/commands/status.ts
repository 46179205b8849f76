import { command, LOGGED_IN } from '#imap/command.ts';
import { existingName, folderName } from '#imap/folders/folder-names.ts';
import { parseStatusItems, statusLine } from '#imap/folders/status-and-quota.ts';
import { ok, Refusal } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

/** STATUS (RFC 9051 §6.3.11). */
export const status = command({
  verb: 'STATUS',
  states: LOGGED_IN,
  args(scan: Scanner, context: ParseContext) {
    scan.space();
    const name = folderName(scan, context);
    scan.space();
    return { name, items: parseStatusItems(scan) };
  },
  async run({ session }, { name, items }) {
    await session.reportSelected();
    const folder = await session.store.folder(existingName(name));
    if (folder === undefined) throw new Refusal('NONEXISTENT', 'No such folder');
    session.out.line(await statusLine(session, folder, items));
    return ok('STATUS completed');
  },
});
