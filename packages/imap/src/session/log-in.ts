/** The last step of every login: address and mailbox token give an open store, or a refusal. */

import { type Completion, no, ok } from '#imap/wire/completion.ts';
import { capabilities } from './capabilities.ts';
import type { Session } from './session.ts';

/** Credentials are never accepted without TLS. Undefined: the connection is safe. */
export function refuseInClear(session: Session): Completion | undefined {
  return session.control.tls ? undefined : no('Log in under TLS only', 'PRIVACYREQUIRED');
}

export async function logIn(session: Session, address: string, token: string): Promise<Completion> {
  const result = await session.login({
    protocol: 'imap',
    address,
    token,
    remoteAddress: session.remoteAddress,
  });
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
