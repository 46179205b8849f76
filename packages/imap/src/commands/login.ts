/**
 * LOGIN and AUTHENTICATE: address and mailbox token give an open store, or a refusal. Never without TLS.
 */

import {
  BEARER_FAILURE,
  readLogin,
  readOauthbearer,
  readPlain,
  readXoauth2,
  type SaslCredentials,
} from '@agent-mailbox/mail-store/sasl';
import { command } from '#imap/command.ts';
import { capabilities } from '#imap/session/capabilities.ts';
import type { Session } from '#imap/session/session.ts';
import { bad, type Completion, no, ok } from '#imap/wire/completion.ts';
import { fromUtf8 } from '#imap/wire/encoder.ts';

/** LOGIN (RFC 9051 §6.2.3): address and mailbox token. */
const login = command({
  verb: 'LOGIN',
  states: ['not-authenticated'],
  args(scan) {
    scan.space();
    const text = (): string => {
      const bytes = scan.astring();
      return fromUtf8(bytes) ?? bytes;
    };
    const address = text();
    scan.space();
    return { address, token: text() };
  },
  run({ session }, { address, token }) {
    return refuseInClear(session) ?? logIn(session, address, token);
  },
});

/** Credentials are never accepted without TLS. Undefined: the connection is safe. */
function refuseInClear(session: Session): Completion | undefined {
  return session.control.tls ? undefined : no('Log in under TLS only', 'PRIVACYREQUIRED');
}

async function logIn(session: Session, address: string, token: string): Promise<Completion> {
  const { options } = session;
  const result = await options.login({ protocol: 'imap', address, token, remoteAddress: options.remoteAddress });
  switch (result.kind) {
    case 'ok':
      session.enter(result.account, result.store);
      session.control.loggedIn(result.onClosed);
      return ok('Logged in', `CAPABILITY ${capabilities(session).join(' ')}`);
    case 'refused':
      return no('Address or token is wrong', 'AUTHENTICATIONFAILED');
    case 'not-permitted':
      return no(result.text, 'AUTHORIZATIONFAILED');
    case 'throttled':
      session.control.byeAfterAnswer('Too many failed logins');
      return no(`Too many failed logins, try again in ${result.retryAfterSeconds} s`, 'LIMIT');
    case 'too-many-connections':
      session.control.byeAfterAnswer('Too many connections');
      return no('The mailbox has too many connections', 'LIMIT');
  }
}

/** Reads one answer to `+`. Undefined: cancelled, or the line ended. */
type Ask = (challenge: string) => Promise<string | undefined>;

type Mechanism = (session: Session, ask: Ask, initial: string | undefined) => Promise<Completion>;

const CANCELLED = bad('AUTHENTICATE cancelled');
const MALFORMED = no('The credentials cannot be read', 'AUTHENTICATIONFAILED');

const enter = (session: Session, credentials: SaslCredentials | undefined): Promise<Completion> | Completion =>
  credentials === undefined ? MALFORMED : logIn(session, credentials.address, credentials.token);

/** PLAIN, and the others after whose failure the reason is sent as a challenge that the client answers (RFC 7628 §3.2.3). */
const oneAnswer =
  (read: (answer: string) => SaslCredentials | undefined, failure?: string): Mechanism =>
  async (session, ask, initial) => {
    const answer = initial ?? (await ask(''));
    if (answer === undefined) return CANCELLED;
    const completion = await enter(session, read(answer));
    if (failure !== undefined && completion.status !== 'OK') await ask(failure);
    return completion;
  };

const loginMechanism: Mechanism = async (session, ask, initial) => {
  const address = initial ?? (await ask(Buffer.from('Username:').toString('base64')));
  if (address === undefined) return CANCELLED;
  const token = await ask(Buffer.from('Password:').toString('base64'));
  return token === undefined ? CANCELLED : enter(session, readLogin(address, token));
};

const MECHANISMS = new Map<string, Mechanism>([
  ['PLAIN', oneAnswer(readPlain)],
  ['LOGIN', loginMechanism],
  ['OAUTHBEARER', oneAnswer(readOauthbearer, BEARER_FAILURE)],
  ['XOAUTH2', oneAnswer(readXoauth2, BEARER_FAILURE)],
]);

/** AUTHENTICATE (RFC 9051 §6.2.2) with SASL-IR (RFC 4959). */
const authenticate = command({
  verb: 'AUTHENTICATE',
  states: ['not-authenticated'],
  args(scan) {
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

export const LOGIN_COMMANDS = [login, authenticate];
