import { ANY_STATE, command, noArguments, ok } from '../command.ts';

/** NOOP (RFC 9051 §6.1.2): asks for what happened, so the store is always read. */
export const noop = command({
  verb: 'NOOP',
  states: ANY_STATE,
  args: noArguments,
  run({ session }) {
    if (session.selectedOrNull !== null) session.selectedOrNull.stale = true;
    return ok('NOOP completed');
  },
});
