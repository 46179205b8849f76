import { ANY_STATE, command, noArguments, ok } from '#imap/command.ts';

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
