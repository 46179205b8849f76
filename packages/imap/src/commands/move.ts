import { command, SELECTED } from '#imap/command.ts';
import { copyUidCode, transfer, transferArguments, transferTarget } from '#imap/folders/append-and-copy.ts';
import { ok } from '#imap/wire/completion.ts';

/** MOVE (RFC 6851): COPYUID is sent in an untagged OK before the removals. */
export const move = command({
  verb: 'MOVE',
  states: SELECTED,
  uid: true,
  needs: 'write',
  args: transferArguments,
  async run({ session, uid }, args) {
    const { selected } = session;
    const { folder, uids, complete } = await transferTarget(session, args, uid);
    if (uids.length === 0) return ok('Nothing to move');
    const moved = await transfer(session, () => session.store.move(selected.folder.id, uids, folder.id, complete));
    const code = copyUidCode(moved);
    if (code !== undefined) session.out.line(`* OK [${code}] Moved`);
    for (const each of moved.from) selected.markGone(each);
    await selected.refresh();
    return ok(
      'MOVE completed',
      session.condstore && moved.from.length > 0 ? `HIGHESTMODSEQ ${selected.highestModseq}` : undefined,
    );
  },
});
