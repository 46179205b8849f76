import { bad, type Pop3Command, refused } from '../command.ts';

/** RFC 1939 §7. The argument is all behind the first space. */
export const pass: Pop3Command = {
  verb: 'PASS',
  states: ['authorization'],
  async run(session, argument) {
    if (!session.secure) return refused('Use STLS first: the token must not travel in the clear');
    const address = session.user;
    if (address === undefined) return bad('USER comes first');
    session.user = undefined;
    return session.login(address, argument);
  },
};
