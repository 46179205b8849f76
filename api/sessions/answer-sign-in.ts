/** The answer to a sign-in: the session, in a cookie if a page of this service asked, or what is still needed. */
import type { BrowserOfRequest } from '#api/http/route.ts';
import type { SignInStep } from '#core/accounts/second-factor/sign-in-challenge.ts';
import type { NewSession } from '#core/accounts/sessions.ts';
import {
  challengeExample,
  presentChallenge,
  presentNewSession,
  SecondFactorNeeded,
  SessionWithToken,
  sessionWithTokenExample,
} from './schema.ts';

export const SIGN_IN_RESPONSES = {
  201: { description: 'Signed in.', schema: SessionWithToken, example: sessionWithTokenExample },
  202: {
    description: 'The password is right; the account needs a second factor.',
    schema: SecondFactorNeeded,
    example: challengeExample,
  },
} as const;

export function answerSession(session: NewSession, cookie: boolean, browser: BrowserOfRequest) {
  const shown = presentNewSession(session);
  if (!cookie) return { status: 201, body: shown } as const;
  browser.keepSession(session.token);
  return { status: 201, body: { ...shown, token: null } } as const;
}

export const answerSignIn = (step: SignInStep, cookie: boolean, browser: BrowserOfRequest) =>
  'session' in step
    ? answerSession(step.session, cookie, browser)
    : ({ status: 202, body: presentChallenge(step.challenge) } as const);
