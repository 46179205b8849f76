import { command, noArguments, SELECTED } from '#imap/command.ts';
import { ok } from '#imap/wire/completion.ts';

/** CHECK (RFC 3501 §6.4.1): nothing to check here, so it is a NOOP. */
export const check = command({
  verb: 'CHECK',
  states: SELECTED,
  args: noArguments,
  run({ session }) {
    session.selected.stale = true;
    return ok('CHECK completed');
  },
});
