import { command, LOGGED_IN, noArguments } from '#imap/command.ts';
import { DELIMITER } from '#imap/folders/folder-names.ts';
import { ok } from '#imap/wire/completion.ts';

/** NAMESPACE (RFC 9051 §6.3.10): one personal namespace, nothing shared. */
export const namespace = command({
  verb: 'NAMESPACE',
  states: LOGGED_IN,
  args: noArguments,
  run({ session }) {
    session.out.line(`* NAMESPACE (("" "${DELIMITER}")) NIL NIL`);
    return ok('NAMESPACE completed');
  },
});
