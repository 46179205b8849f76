import type { SpecialUse } from '@agent-mailbox/mail-store';
import { command, LOGGED_IN } from '#imap/command.ts';
import { checkPatterns, elderListArguments, listedLine, listFolders } from '#imap/folders/list-folders.ts';
import { ok } from '#imap/wire/completion.ts';

/** Spellings from before RFC 6154. */
const ELDER_USES: Partial<Record<SpecialUse, string>> = { '\\Junk': '\\Spam' };

/** XLIST, the predecessor of SPECIAL-USE that older clients still use. */
export const xlist = command({
  verb: 'XLIST',
  states: LOGGED_IN,
  args: elderListArguments,
  async run({ session }, pattern) {
    if (pattern === undefined) return ok('XLIST completed');
    checkPatterns([pattern]);
    const selection = { subscribed: false, recursiveMatch: false, specialUse: false };
    for (const { name, folder, hasChildren } of listFolders(await session.store.folders(), [], [pattern], selection)) {
      const use = folder?.specialUse ?? null;
      const attributes = [
        ...(folder === undefined ? ['\\Noselect'] : []),
        hasChildren ? '\\HasChildren' : '\\HasNoChildren',
        ...(use === null ? [] : [ELDER_USES[use] ?? use]),
      ];
      session.out.line(listedLine(session, 'XLIST', attributes, name));
    }
    return ok('XLIST completed');
  },
});
