import { command, SELECTED } from '#imap/command.ts';
import { appendable, parseAppendMessage, targetFolder, transfer } from '#imap/folders/append-and-copy.ts';
import { folderName } from '#imap/folders/folder-names.ts';
import { no, OutOfRange, ok } from '#imap/wire/completion.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

/** REPLACE (RFC 8508): a new message in the place of an old one, in one step. */
export const replace = command({
  verb: 'REPLACE',
  states: SELECTED,
  uid: true,
  needs: 'write',
  args(scan: Scanner, context: ParseContext) {
    scan.space();
    const number = scan.skip('*') ? null : scan.number(1);
    scan.space();
    const name = folderName(scan, context);
    scan.space();
    return { number, name, message: parseAppendMessage(scan) };
  },
  async run({ session, uid: byUid }, { number, name, message }) {
    const { selected, store } = session;
    const { map } = selected;
    const index = number === null ? map.count - 1 : byUid ? map.indexOf(number) : number - 1;
    if (!byUid && (index < 0 || index >= map.count)) throw new OutOfRange();
    const uid = map.uidAt(index);
    if (index < 0 || selected.isGone(uid))
      return no('The message has been removed', byUid ? 'NONEXISTENT' : 'EXPUNGEISSUED');
    const content = appendable(message);
    const folder = await targetFolder(session, name);
    const replaced = await transfer(session, () => store.replace(selected.folder.id, uid, folder.id, content));
    session.out.line(`* OK [APPENDUID ${replaced.uidValidity} ${replaced.uid}] Replacement stored`);
    selected.markGone(uid);
    selected.stale = true;
    if (!session.condstore) return ok('REPLACE completed');
    await selected.refresh();
    return ok('REPLACE completed', `HIGHESTMODSEQ ${selected.highestModseq}`);
  },
});
