import { command, LOGGED_IN } from '#imap/command.ts';
import { checkPatterns, elderListArguments, listedLine, listFolders } from '#imap/folders/list-folders.ts';
import { ok } from '#imap/wire/completion.ts';

/**
 * LSUB (RFC 3501 §6.3.9): subscribed names, also of folders that do not exist. A name above a subscribed one that `%`
 * stops at is listed with \Noselect.
 */
export const lsub = command({
  verb: 'LSUB',
  states: LOGGED_IN,
  args: elderListArguments,
  async run({ session }, pattern) {
    if (pattern === undefined) return ok('LSUB completed');
    checkPatterns([pattern]);
    const [subscriptions, folders] = [await session.store.subscriptions(), await session.store.folders()];
    const selection = { subscribed: true, recursiveMatch: pattern.includes('%'), specialUse: false };
    for (const { name, subscribed } of listFolders(folders, subscriptions, [pattern], selection))
      session.out.line(listedLine(session, 'LSUB', subscribed ? [] : ['\\Noselect'], name));
    return ok('LSUB completed');
  },
});
