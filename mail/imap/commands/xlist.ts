import type { SpecialUse } from '../../store/interface.ts';
import { command, LOGGED_IN, ok, type ParseContext } from '../command.ts';
import { DELIMITER, decodeName, wireName } from '../folder-names.ts';
import { checkPatterns, listFolders } from '../list-folders.ts';
import type { Scanner } from '../parser.ts';

/** Spellings from before RFC 6154. */
const ELDER_USES: Partial<Record<SpecialUse, string>> = { '\\Junk': '\\Spam' };

/** XLIST, the forerunner of SPECIAL-USE that older clients still ask for. */
export const xlist = command({
  verb: 'XLIST',
  states: LOGGED_IN,
  args(scan: Scanner, { utf8 }: ParseContext) {
    scan.space();
    const reference = decodeName(scan.astring(), utf8);
    scan.space();
    return { reference, pattern: decodeName(scan.listPattern(), utf8) };
  },
  async run({ session }, { reference, pattern }) {
    if (reference === undefined || pattern === undefined) return ok('XLIST completed');
    checkPatterns([reference + pattern]);
    const selection = { subscribed: false, recursiveMatch: false, specialUse: false };
    const folders = await session.store.folders();
    for (const { name, folder, hasChildren } of listFolders(folders, [], [reference + pattern], selection)) {
      const use = folder?.specialUse ?? null;
      const attributes = [
        ...(folder === undefined ? ['\\Noselect'] : []),
        hasChildren ? '\\HasChildren' : '\\HasNoChildren',
        ...(use === null ? [] : [ELDER_USES[use] ?? use]),
      ];
      session.out.line(`* XLIST (${attributes.join(' ')}) "${DELIMITER}" ${wireName(name, session.utf8)}`);
    }
    return ok('XLIST completed');
  },
});
