import { command, SELECTED } from '#imap/command.ts';
import { copyUidCode, transfer, transferArguments, transferTarget } from '#imap/folders/append-and-copy.ts';
import { ok } from '#imap/wire/completion.ts';

/** COPY (RFC 9051 §6.4.7), all or none, with COPYUID (RFC 4315). */
export const copy = command({
  verb: 'COPY',
  states: SELECTED,
  uid: true,
  args: transferArguments,
  async run({ session, uid }, args) {
    const { folder, uids, complete } = await transferTarget(session, args, uid);
    if (uids.length === 0) return ok('Nothing to copy');
    const copied = await transfer(session, () =>
      session.store.copy(session.selected.folder.id, uids, folder.id, complete),
    );
    if (folder.id === session.selected.folder.id) session.selected.stale = true;
    return ok('COPY completed', copyUidCode(copied));
  },
});
