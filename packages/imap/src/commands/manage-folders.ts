/**
 * Commands that change the folders of a mailbox, or its subscriptions to them.
 */
import { SPECIAL_USES, type SpecialUse, StoreRefused } from '@agent-mailbox/mail-store';
import { command, LOGGED_IN } from '#imap/command.ts';
import { ok, Refusal } from '#imap/wire/completion.ts';
import { existingName, folderName, nameArgument, newFolderName } from '#imap/wire/values.ts';
import { reportNormalized, reportNormalizedGone } from './list.ts';

const USES = new Map<string, SpecialUse>(
  SPECIAL_USES.filter((use) => use !== '\\Inbox').map((use) => [use.toUpperCase(), use]),
);

/** CREATE (RFC 9051 §6.3.4), with a special use (RFC 6154 §3). The answer names the new MAILBOXID (RFC 8474). */
const create = command({
  verb: 'CREATE',
  states: LOGGED_IN,
  args(scan, context) {
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

/** DELETE (RFC 9051 §6.3.5). Deleting the selected folder leaves none selected. */
const deleteFolder = command({
  verb: 'DELETE',
  states: LOGGED_IN,
  args: nameArgument,
  async run({ session }, wire) {
    const name = existingName(wire);
    const folder = await session.folder(wire);
    await session.store.deleteFolder(name);
    if (session.selectedOrNull?.folder.id === folder.id) {
      session.leave();
      session.out.line('* OK [CLOSED] The selected folder was deleted');
    }
    reportNormalizedGone(session, name, wire.oldName);
    return ok('DELETE completed');
  },
});

/** RENAME (RFC 9051 §6.3.6): children are renamed too; renaming INBOX only moves its messages. */
const rename = command({
  verb: 'RENAME',
  states: LOGGED_IN,
  args(scan, context) {
    scan.space();
    const from = folderName(scan, context);
    scan.space();
    return { from, to: folderName(scan, context) };
  },
  async run({ session }, { from, to }) {
    const target = newFolderName(to);
    if (target === 'INBOX') throw new Refusal('ALREADYEXISTS', 'INBOX always exists');
    await session.store.renameFolder(existingName(from), target);
    session.markStale();
    // The old name is sent as it was given, whichever of the two was not in NFC (RFC 9051 §6.3.6).
    if (from.oldName !== undefined || to.oldName !== undefined)
      await reportNormalized(session, target, from.oldName ?? from.name);
    return ok('RENAME completed');
  },
});

/** SUBSCRIBE (RFC 9051 §6.3.7). Names are subscribed, not folders: they need not exist. */
const subscribe = command({
  verb: 'SUBSCRIBE',
  states: LOGGED_IN,
  args: nameArgument,
  async run({ session }, name) {
    await session.store.subscribe(newFolderName(name), true);
    return ok('SUBSCRIBE completed');
  },
});

/** UNSUBSCRIBE (RFC 9051 §6.3.8). */
const unsubscribe = command({
  verb: 'UNSUBSCRIBE',
  states: LOGGED_IN,
  args: nameArgument,
  async run({ session }, name) {
    await session.store.subscribe(existingName(name), false);
    return ok('UNSUBSCRIBE completed');
  },
});

export const FOLDER_COMMANDS = [create, deleteFolder, rename, subscribe, unsubscribe];
