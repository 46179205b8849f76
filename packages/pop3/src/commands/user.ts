import { bad, ok, type Pop3Command, refused } from '#pop3/command.ts';

/** RFC 1939 §7. Any name is accepted: the answer must not reveal which mailboxes exist. */
export const user: Pop3Command = {
  verb: 'USER',
  states: ['authorization'],
  run(session, argument) {
    if (!session.secure) return refused('Use STLS first: the token must not be sent without TLS');
    if (argument === '') return bad('USER takes the address of the mailbox');
    session.user = argument;
    return ok('Send the token with PASS');
  },
};
