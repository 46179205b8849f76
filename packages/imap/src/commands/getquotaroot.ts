import { command, LOGGED_IN, ok, type ParseContext, Refusal } from '#imap/command.ts';
import { existingName, folderName, wireName } from '#imap/folder-names.ts';
import type { Scanner } from '#imap/parser.ts';
import { quotaLine } from '#imap/quota-root.ts';

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
