import { bad, ok, type Pop3Command } from '../command.ts';

/** RFC 2595 §4. What was known of the client before is forgotten. */
export const stls: Pop3Command = {
  verb: 'STLS',
  states: ['authorization'],
  run(session, argument) {
    if (argument !== '') return bad('STLS takes no argument');
    if (!session.canStartTls) return bad(session.secure ? 'TLS is active already' : 'TLS is not available here');
    return ok('Begin TLS', { then: 'start-tls' });
  },
};
