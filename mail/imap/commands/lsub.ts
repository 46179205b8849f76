import { command, LOGGED_IN, ok, type ParseContext } from '../command.ts';
import { DELIMITER, decodeName, wireName } from '../folder-names.ts';
import { checkPatterns, listFolders, patternMatcher } from '../list-folders.ts';
import type { Scanner } from '../parser.ts';

/**
 * LSUB (RFC 3501 §6.3.9): subscribed names, also of folders that do not exist. A name above a subscribed one that `%`
 * stops at is listed with \Noselect.
 */
export const lsub = command({
  verb: 'LSUB',
  states: LOGGED_IN,
  args(scan: Scanner, { utf8 }: ParseContext) {
    scan.space();
    const reference = decodeName(scan.astring(), utf8);
    scan.space();
    return { reference, pattern: decodeName(scan.listPattern(), utf8) };
  },
  async run({ session }, { reference, pattern }) {
    if (reference === undefined || pattern === undefined) return ok('LSUB completed');
    checkPatterns([reference + pattern]);
    const subscriptions = await session.store.subscriptions();
    const folders = await session.store.folders();
    const matches = patternMatcher(reference + pattern);
    const listed = listFolders(folders, subscriptions, [reference + pattern], {
      subscribed: true,
      recursiveMatch: pattern.includes('%'),
      specialUse: false,
    });
    for (const { name, subscribed } of listed)
      if (matches(name))
        session.out.line(`* LSUB (${subscribed ? '' : '\\Noselect'}) "${DELIMITER}" ${wireName(name, session.utf8)}`);
    return ok('LSUB completed');
  },
});
