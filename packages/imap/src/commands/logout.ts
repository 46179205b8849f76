import { ANY_STATE, command, noArguments } from '#imap/command.ts';
import { ok } from '#imap/wire/completion.ts';

/** LOGOUT (RFC 9051 §6.1.3). */
export const logout = command({
  verb: 'LOGOUT',
  states: ANY_STATE,
  reports: 'nothing',
  args: noArguments,
  run({ session }) {
    session.out.line('* BYE Logging out');
    session.control.logout();
    return ok('LOGOUT completed');
  },
});
