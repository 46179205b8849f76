import { command, LOGGED_IN } from '#imap/command.ts';
import { existingName, folderName, wireName } from '#imap/folders/folder-names.ts';
import { quotaLine } from '#imap/folders/status-and-quota.ts';
import { ok, Refusal } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

/** GETQUOTAROOT (RFC 9208 §4.1.2). */
export const getquotaroot = command({
  verb: 'GETQUOTAROOT',
  states: LOGGED_IN,
  args(scan: Scanner, context: ParseContext) {
    scan.space();
    return folderName(scan, context);
  },
  async run({ session }, wire) {
    const folder = await session.store.folder(existingName(wire));
    if (folder === undefined) throw new Refusal('NONEXISTENT', 'No such folder');
    session.out.line(`* QUOTAROOT ${wireName(folder.name, session.utf8)} ""`);
    session.out.line(await quotaLine(session));
    return ok('GETQUOTAROOT completed');
  },
});
