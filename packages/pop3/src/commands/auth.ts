import { BEARER_FAILURE, readPlain, readXoauth2, type SaslCredentials } from '@agent-mailbox/mail-store/sasl';
import { bad, type Pop3Command, refused } from '#pop3/command.ts';

export const SASL_MECHANISMS = ['PLAIN', 'XOAUTH2'] as const;

const READERS: Readonly<Record<string, (answer: string) => SaslCredentials | undefined>> = {
  PLAIN: readPlain,
  XOAUTH2: readXoauth2,
};

/** RFC 5034: `AUTH mechanism [initial-response]`, where `=` is an empty response and `*` cancels. */
export const auth: Pop3Command = {
  verb: 'AUTH',
  states: ['authorization'],
  async run(session, argument) {
    if (!session.secure) return refused('Use STLS first: the token must not be sent without TLS');
    const [mechanism = '', initial, more] = argument.split(' ');
    const read = READERS[mechanism.toUpperCase()];
    if (read === undefined || more !== undefined) return bad(`AUTH takes one of ${SASL_MECHANISMS.join(', ')}`);
    const answer = initial ?? (await session.challenge(''));
    if (answer === undefined) return bad('The answer is too long');
    if (answer === '*') return refused('Given up');
    const credentials = read(answer === '=' ? '' : answer);
    if (credentials === undefined) return bad('The answer is not valid for the mechanism');
    const reply = await session.login(credentials.address, credentials.token);
    // The client answers the failure's reason with an empty line.
    if (read === readXoauth2 && reply.kind === 'error' && reply.code === 'AUTH')
      await session.challenge(BEARER_FAILURE);
    return reply;
  },
};
