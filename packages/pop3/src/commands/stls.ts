import { bad, ok, type Pop3Command } from '#pop3/command.ts';

/** RFC 2595 §4. The state of the client before it is discarded. */
export const stls: Pop3Command = {
  verb: 'STLS',
  states: ['authorization'],
  run(session, argument) {
    if (argument !== '') return bad('STLS takes no argument');
    if (!session.canStartTls) return bad(session.secure ? 'TLS is active already' : 'TLS is not available here');
    return ok('Begin TLS', { then: 'start-tls' });
  },
};
