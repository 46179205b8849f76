import { command, LOGGED_IN } from '#imap/command.ts';
import {
  appendable,
  parseAppendMessage,
  targetFolder,
  transfer,
  type WireMessage,
} from '#imap/folders/append-and-copy.ts';
import { folderName } from '#imap/folders/folder-names.ts';
import { printSet } from '#imap/session/sequence-numbers.ts';
import { ok } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

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
    const folder = await targetFolder(session, name);
    const { uidValidity, uids } = await transfer(session, () => session.store.append(folder.id, list));
    const selected = session.selectedOrNull;
    if (selected?.folder.id === folder.id) selected.stale = true;
    return ok('APPEND completed', `APPENDUID ${uidValidity} ${printSet(uids)}`);
  },
});
