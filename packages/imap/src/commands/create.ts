import { SPECIAL_USES, type SpecialUse, StoreRefused } from '@agent-mailbox/mail-store';
import { command, LOGGED_IN } from '#imap/command.ts';
import { folderName, newFolderName } from '#imap/folders/folder-names.ts';
import { reportNormalized } from '#imap/folders/list-folders.ts';
import { ok, Refusal } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

const USES = new Map<string, SpecialUse>(
  SPECIAL_USES.filter((use) => use !== '\\Inbox').map((use) => [use.toUpperCase(), use]),
);

/** CREATE (RFC 9051 §6.3.4), with a special use (RFC 6154 §3). The answer names the new MAILBOXID (RFC 8474). */
export const create = command({
  verb: 'CREATE',
  states: LOGGED_IN,
  args(scan: Scanner, context: ParseContext) {
    scan.space();
    const name = folderName(scan, context);
    const uses: string[] = [];
    if (scan.skip(' ')) {
      scan.expect('(USE ');
      uses.push(
        ...scan.list(() => {
          scan.expect('\\');
          return `\\${scan.word()}`;
        }),
      );
      scan.expect(')');
    }
    return { name, uses };
  },
  async run({ session }, { name, uses }) {
    const plain = newFolderName(name);
    if (plain === 'INBOX') throw new Refusal('ALREADYEXISTS', 'INBOX always exists');
    const [use] = uses.map((each) => USES.get(each));
    if (uses.length > 1 || (uses.length === 1 && use === undefined))
      throw new Refusal('USEATTR', 'A folder cannot be created for this use');
    if (use !== undefined && (await session.store.folders()).some((folder) => folder.specialUse === use))
      throw new Refusal('USEATTR', 'There is a folder for this use already');
    try {
      const folder = await session.store.createFolder(plain, use ?? null);
      await reportNormalized(session, folder.name, name.oldName);
      return ok('CREATE completed', `MAILBOXID (${folder.objectId})`);
    } catch (error) {
      if (error instanceof StoreRefused && error.refusal === 'no-folder') throw new Refusal('CANNOT', error.message);
      throw error;
    }
  },
});
