import { changePassword } from '../../core/change-password.ts';
import { createSession, deleteSession, organizationsOf } from '../../core/sessions.ts';
import { verifySignIn } from '../../core/sign-in.ts';
import { type Route, route } from '../route.ts';
import { sessionExample, sessionWithTokenExample } from './examples.ts';
import { presentNewSession, presentSession } from './present.ts';
import { ChangePassword, Session, SessionWithToken, SignIn } from './schema.ts';

const tag = 'Sessions';

export const sessionRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/sessions',
    operationId: 'createSession',
    tag,
    summary: 'Sign in',
    description: 'Ten failed tries in 15 minutes, per address and per account, answer 429.',
    auth: 'public',
    body: SignIn,
    bodyExample: { email: 'ada@example.com', password: 'correct horse battery staple' },
    secretFields: ['token'],
    responses: { 201: { description: 'Signed in.', schema: SessionWithToken, example: sessionWithTokenExample } },
    errors: ['unauthenticated', 'rate_limited'],
    async handler({ services, body, ipAddress, requestId }) {
      const user = await verifySignIn(services, body, ipAddress);
      return { status: 201, body: presentNewSession(await createSession(services, user, { ipAddress, requestId })) };
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
      const organizations = await organizationsOf(services.db, principal.id);
      return {
        status: 200,
        body: presentSession({ expiresAt: principal.sessionExpiresAt, user: principal, organizations }),
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
    responses: { 204: { description: 'Signed out; the token is dead.' } },
    async handler({ services, principal, caller }) {
      await deleteSession(services, principal.sessionId, principal.id, caller);
      return { status: 204 };
    },
  }),
  route({
    method: 'PUT',
    path: '/api/sessions/current/password',
    operationId: 'changePassword',
    tag,
    summary: 'Change the password',
    description: 'Ends all other sessions of the person.',
    auth: 'session',
    body: ChangePassword,
    bodyExample: { currentPassword: 'correct horse battery staple', newPassword: 'another long pass phrase' },
    responses: { 204: { description: 'Changed.' } },
    errors: ['unauthenticated', 'rate_limited'],
    async handler({ services, principal, caller, ipAddress, body }) {
      await changePassword(services, principal, { ...caller, ipAddress }, body);
      return { status: 204 };
    },
  }),
];
