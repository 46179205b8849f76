import {
  BEARER_FAILURE,
  readLogin,
  readOauthbearer,
  readPlain,
  readXoauth2,
  type SaslCredentials,
} from '@agent-mailbox/mail-store/sasl';
import { command } from '#imap/command.ts';
import { logIn, refuseInClear } from '#imap/session/log-in.ts';
import type { Session } from '#imap/session/session.ts';
import { bad, type Completion, no } from '#imap/wire/completion.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** Reads one answer to `+`. Undefined: cancelled, or the line ended. */
type Ask = (challenge: string) => Promise<string | undefined>;

type Mechanism = (session: Session, ask: Ask, initial: string | undefined) => Promise<Completion>;

const CANCELLED = bad('AUTHENTICATE cancelled');
const MALFORMED = no('The credentials cannot be read', 'AUTHENTICATIONFAILED');

const enter = (session: Session, credentials: SaslCredentials | undefined): Promise<Completion> | Completion =>
  credentials === undefined ? MALFORMED : logIn(session, credentials.address, credentials.token);

const plain: Mechanism = async (session, ask, initial) => {
  const answer = initial ?? (await ask(''));
  return answer === undefined ? CANCELLED : enter(session, readPlain(answer));
};

const loginMechanism: Mechanism = async (session, ask, initial) => {
  const address = initial ?? (await ask(Buffer.from('Username:').toString('base64')));
  if (address === undefined) return CANCELLED;
  const token = await ask(Buffer.from('Password:').toString('base64'));
  return token === undefined ? CANCELLED : enter(session, readLogin(address, token));
};

const bearer =
  (read: (answer: string) => SaslCredentials | undefined): Mechanism =>
  async (session, ask, initial) => {
    const answer = initial ?? (await ask(''));
    if (answer === undefined) return CANCELLED;
    const completion = await enter(session, read(answer));
    // The reason is sent as a challenge, and the client answers it before it gets NO (RFC 7628 §3.2.3).
    if (completion.status !== 'OK') await ask(BEARER_FAILURE);
    return completion;
  };

const MECHANISMS = new Map<string, Mechanism>([
  ['PLAIN', plain],
  ['LOGIN', loginMechanism],
  ['OAUTHBEARER', bearer(readOauthbearer)],
  ['XOAUTH2', bearer(readXoauth2)],
]);

/** AUTHENTICATE (RFC 9051 §6.2.2) with SASL-IR (RFC 4959). */
export const authenticate = command({
  verb: 'AUTHENTICATE',
  states: ['not-authenticated'],
  args(scan: Scanner) {
    scan.space();
    const mechanism = scan.word();
    const initial = scan.skip(' ') ? scan.match(/[A-Za-z0-9+/=]+/y) : undefined;
    // `=` alone is an initial response that is empty.
    return { mechanism, initial: initial === '=' ? '' : initial };
  },
  async run({ session }, { mechanism, initial }) {
    const clear = refuseInClear(session);
    if (clear !== undefined) return clear;
    const run = MECHANISMS.get(mechanism);
    if (run === undefined) return no('The mechanism is not known', 'CANNOT');
    const ask: Ask = async (challenge) => {
      session.control.continuation(challenge);
      const line = await session.control.readLine();
      if (line === undefined || line.tooLong || line.literal !== null || line.text === '*') return undefined;
      return line.text;
    };
    return run(session, ask, initial);
  },
});
