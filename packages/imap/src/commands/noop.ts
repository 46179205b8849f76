import { ANY_STATE, command, noArguments } from '#imap/command.ts';
import { ok } from '#imap/wire/completion.ts';

/** NOOP (RFC 9051 §6.1.2): the client polls for changes, so the store is always read. */
export const noop = command({
  verb: 'NOOP',
  states: ANY_STATE,
  args: noArguments,
  run({ session }) {
    if (session.selectedOrNull !== null) session.selectedOrNull.stale = true;
    return ok('NOOP completed');
  },
});
