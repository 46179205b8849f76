import { StoreRefused } from '@agent-mailbox/mail-store';
import { command, LOGGED_IN, ok, type ParseContext, Refusal } from '#imap/command.ts';
import { appendable, parseAppendMessage, type WireMessage } from '#imap/folders/append-message.ts';
import { existingName, folderName } from '#imap/folders/folder-names.ts';
import { printSet } from '#imap/session/sequence-set.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** APPEND (RFC 9051 §6.3.12) of one or several messages (RFC 3502), all or none. */
export const append = command({
  verb: 'APPEND',
  states: LOGGED_IN,
  args(scan: Scanner, context: ParseContext) {
    scan.space();
    const name = folderName(scan, context);
    const messages: WireMessage[] = [];
    do {
      scan.space();
      messages.push(parseAppendMessage(scan));
    } while (scan.peek() === ' ');
    return { name, messages };
  },
  async run({ session }, { name, messages }) {
    const list = messages.map(appendable);
    const folder = await session.store.folder(existingName(name));
    if (folder === undefined) throw new Refusal('TRYCREATE', 'No such folder');
    try {
      const { uidValidity, uids } = await session.store.append(folder.id, list);
      const selected = session.selectedOrNull;
      if (selected?.folder.id === folder.id) selected.stale = true;
      return ok('APPEND completed', `APPENDUID ${uidValidity} ${printSet(uids)}`);
    } catch (error) {
      if (error instanceof StoreRefused && error.refusal === 'no-folder')
        throw new Refusal('TRYCREATE', 'No such folder');
      throw error;
    }
  },
});
