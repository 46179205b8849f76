import { FORM_IN_BROWSER, type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { changePassword } from '#core/accounts/passwords.ts';
import { answerChallenge, signInByPassword } from '#core/accounts/second-factor/sign-in-challenge.ts';
import { deleteSession, endSessions, listSessions, organizationsOf } from '#core/accounts/sessions.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import { changesId, presentPlace } from '#core/organizations/organization-changes.ts';
import { CHALLENGE_TRIES } from '#domain/access/second-factor.ts';
import { answerSession, answerSignIn, SIGN_IN_RESPONSES } from './answer-sign-in.ts';
import {
  AnswerChallenge,
  ChangePassword,
  challengeExample,
  presentSession,
  presentSessionOfList,
  proofOf,
  Session,
  SessionList,
  SessionParams,
  SignIn,
  sessionExample,
  sessionListExample,
} from './schema.ts';

const tag = 'Sessions';

export const sessionRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/sessions',
    operationId: 'createSession',
    withoutCall: { client: FORM_IN_BROWSER },
    tag,
    summary: 'Sign in',
    description:
      'After ten failures in 15 minutes from a source address the answer is 429. After thirty for an account, from addresses the person has not signed in from, each network may try twice more. From an address the person has signed in from before, only the failures of this address for this account count. If the account has a second factor, the answer is 202 with a challenge: send it with a code to POST /api/sessions/second-factor within five minutes.',
    auth: 'public',
    body: SignIn,
    bodyExample: { email: 'ada@example.com', password: 'correct horse battery staple' },
    secretFields: ['token', 'challenge'],
    responses: SIGN_IN_RESPONSES,
    errors: ['unauthenticated', 'rate_limited', 'forbidden'],
    async handler({ services, body, ipAddress, requestId, headers, browser }) {
      if (body.cookie === true) browser.requireOwnPage();
      const origin = { ipAddress, requestId, userAgent: headers['user-agent'] };
      return answerSignIn(await signInByPassword(services, body, origin), body.cookie === true, browser);
    },
  }),
  route({
    method: 'POST',
    path: '/api/sessions/second-factor',
    operationId: 'answerSecondFactor',
    withoutCall: { client: FORM_IN_BROWSER },
    tag,
    summary: 'Sign in with the second factor, after the password',
    description: `With \`code\`, or with \`passkey\` after POST /api/sessions/second-factor/passkey. A challenge takes ${CHALLENGE_TRIES} answers; then sign in with the password again. Wrong ones are limited like wrong passwords.`,
    auth: 'public',
    body: AnswerChallenge,
    bodyExample: { challenge: challengeExample.challenge, code: '123456' },
    secretFields: ['token'],
    responses: { 201: SIGN_IN_RESPONSES[201] },
    errors: ['unauthenticated', 'rate_limited', 'forbidden'],
    async handler({ services, temporal, body, ipAddress, requestId, headers, browser, publicUrl }) {
      if (body.cookie === true) browser.requireOwnPage();
      const origin = { ipAddress, requestId, userAgent: headers['user-agent'] };
      const input = { challenge: body.challenge, proof: proofOf(body, publicUrl) };
      const { session, notices } = await answerChallenge(services, input, origin);
      await sendNotices(services, temporal, notices);
      return answerSession(session, body.cookie === true, browser);
    },
  }),
  route({
    method: 'GET',
    path: '/api/sessions',
    operationId: 'listSessions',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'List where you are signed in',
    description: 'Sessions of the person that have not expired, the most recently used first; at most 100.',
    auth: 'session',
    responses: { 200: { description: 'The sessions.', schema: SessionList, example: sessionListExample } },
    async handler({ services, principal }) {
      const rows = await listSessions(services.db, principal.id, new Date(services.now()));
      return { status: 200, body: { data: rows.map((row) => presentSessionOfList(row, principal.sessionId)) } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/sessions',
    operationId: 'deleteOtherSessions',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Sign out everywhere else',
    auth: 'session',
    responses: { 204: { description: 'All other sessions of the person are ended.' } },
    async handler({ services, principal, caller }) {
      await endSessions(services, principal.id, { allBut: principal.sessionId }, caller);
      return { status: 204 };
    },
  }),
  route({
    method: 'GET',
    path: '/api/sessions/current',
    operationId: 'getSession',
    tag,
    summary: 'The session of this token',
    auth: 'session',
    responses: { 200: { description: 'Who is signed in, and where.', schema: Session, example: sessionExample } },
    async handler({ services, principal }) {
      const { db, now } = services;
      // The place first: what changes after it is in the stream, even if it is in this answer already.
      const place = await presentPlace(db);
      const organizations = await organizationsOf(db, principal.id);
      const signedIn = {
        secondFactor: principal.secondFactorAt !== null,
        expiresAt: principal.sessionExpiresAt,
        user: principal,
        organizations,
      };
      return {
        status: 200,
        body: presentSession(signedIn, changesId(place, now())),
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/sessions/current',
    operationId: 'deleteSession',
    tag,
    summary: 'Sign out',
    auth: 'session',
    responses: { 204: { description: 'Signed out; the token is not valid any more.' } },
    async handler({ services, principal, caller, browser }) {
      await deleteSession(services, principal.sessionId, principal.id, caller);
      browser.keepSession(null);
      return { status: 204 };
    },
  }),
  route({
    method: 'PUT',
    path: '/api/sessions/current/password',
    operationId: 'changePassword',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Change the password',
    description:
      'Ends all other sessions of the person, and the links of notices and of password resets. The person gets a mail about it.',
    auth: 'session',
    body: ChangePassword,
    bodyExample: { currentPassword: 'correct horse battery staple', newPassword: 'another long pass phrase' },
    responses: { 204: { description: 'Changed.' } },
    errors: ['unauthenticated', 'rate_limited'],
    async handler({ services, temporal, principal, caller, ipAddress, body }) {
      await sendNotices(services, temporal, await changePassword(services, principal, { ...caller, ipAddress }, body));
      return { status: 204 };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/sessions/:id',
    operationId: 'endSession',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'End one of your sessions',
    auth: 'session',
    params: SessionParams,
    responses: { 204: { description: 'Ended; its token is not valid any more.' } },
    errors: ['not_found'],
    async handler({ services, principal, caller, params }) {
      await endSessions(services, principal.id, { only: params.id }, caller);
      return { status: 204 };
    },
  }),
];
