import { bad, type Pop3Command, refused } from '#pop3/command.ts';

/** RFC 1939 §7. The argument is everything after the first space. */
export const pass: Pop3Command = {
  verb: 'PASS',
  states: ['authorization'],
  async run(session, argument) {
    if (!session.secure) return refused('Use STLS first: the token must not be sent without TLS');
    const address = session.user;
    if (address === undefined) return bad('Send USER first');
    session.user = undefined;
    return session.login(address, argument);
  },
};
