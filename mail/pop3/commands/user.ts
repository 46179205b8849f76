import { bad, ok, type Pop3Command, refused } from '../command.ts';

/** RFC 1939 §7. Any name is welcome: an answer here must not tell which mailboxes exist. */
export const user: Pop3Command = {
  verb: 'USER',
  states: ['authorization'],
  run(session, argument) {
    if (!session.secure) return refused('Use STLS first: the token must not travel in the clear');
    if (argument === '') return bad('USER takes the address of the mailbox');
    session.user = argument;
    return ok('Now the token, by PASS');
  },
};
