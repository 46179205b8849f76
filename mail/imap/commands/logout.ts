import { ANY_STATE, command, noArguments, ok } from '../command.ts';

/** LOGOUT (RFC 9051 §6.1.3). */
export const logout = command({
  verb: 'LOGOUT',
  states: ANY_STATE,
  telling: 'nothing',
  args: noArguments,
  run({ session }) {
    session.out.line('* BYE Until next time');
    session.control.logout();
    return ok('LOGOUT completed');
  },
});
