import { ok, type Pop3Command, type Pop3Session } from '#pop3/command.ts';
import { SASL_MECHANISMS } from './auth.ts';

/** RFC 2449 §5. Secrets only under TLS: USER and SASL are announced there alone, STLS before it. */
function capabilities(session: Pop3Session): string[] {
  return [
    'TOP',
    'UIDL',
    'RESP-CODES',
    'AUTH-RESP-CODE',
    'PIPELINING',
    ...(session.secure ? ['USER', `SASL ${SASL_MECHANISMS.join(' ')}`] : []),
    ...(session.canStartTls ? ['STLS'] : []),
    'EXPIRE NEVER',
    'UTF8',
    ...(session.serverName === undefined ? [] : [`IMPLEMENTATION ${session.serverName.replaceAll(' ', '-')}`]),
  ];
}

export const capa: Pop3Command = {
  verb: 'CAPA',
  states: ['authorization', 'transaction'],
  run: (session) => ok('Capabilities follow', { lines: capabilities(session) }),
};
