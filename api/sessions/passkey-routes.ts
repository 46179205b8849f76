/** Passkeys: the sign-in with one, alone or after the password, and those of the signed-in person. */
import Type from 'typebox';
import { FORM_IN_BROWSER, type Route, route } from '#api/http/route.ts';
import { closed } from '#api/http/schema-parts.ts';
import { beginPasskeySignIn, signInByPasskey } from '#core/accounts/second-factor/passkey-sign-in.ts';
import {
  addPasskey,
  beginConfirmation,
  beginPasskey,
  listPasskeys,
  removePasskey,
} from '#core/accounts/second-factor/passkeys.ts';
import { beginPasskeyStep } from '#core/accounts/second-factor/sign-in-challenge.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import { PASSKEYS_PER_PERSON_MAX, relyingPartyOf } from '#domain/access/passkeys.ts';
import { RECOVERY_CODES } from '#domain/access/second-factor.ts';
import { answerSession, SIGN_IN_RESPONSES } from './answer-sign-in.ts';
import {
  AddPasskey,
  assertionExample,
  creationExample,
  NewPasskey,
  PasskeyCreation,
  PasskeyList,
  PasskeyParams,
  PasskeyRequest,
  PasskeySignIn,
  passkeyExample,
  presentPasskey,
  registrationExample,
  requestExample,
} from './passkey-schema.ts';
import { challengeExample, OwnPassword, ProofOfPerson, proofOf } from './schema.ts';

const tag = 'Sessions';
const BASE = '/api/sessions/current/passkeys';
const withoutCall = { client: FORM_IN_BROWSER };

const asked = {
  201: { description: 'What the browser is to ask for.', schema: PasskeyRequest, example: requestExample },
} as const;

export const passkeyRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/sessions/passkey/begin',
    operationId: 'beginPasskeySignIn',
    withoutCall,
    tag,
    summary: 'Begin to sign in with a passkey',
    description:
      'Without a password: the passkey stands for both factors. The answer of the browser is awaited for five minutes, once.',
    auth: 'public',
    responses: asked,
    errors: ['rate_limited', 'conflict'],
    handler: async ({ services, ipAddress, publicUrl }) => ({
      status: 201,
      body: await beginPasskeySignIn(services, ipAddress, publicUrl),
    }),
  }),
  route({
    method: 'POST',
    path: '/api/sessions/passkey',
    operationId: 'signInByPasskey',
    withoutCall,
    tag,
    summary: 'Sign in with a passkey',
    auth: 'public',
    body: PasskeySignIn,
    bodyExample: { passkey: assertionExample },
    secretFields: ['token'],
    responses: { 201: SIGN_IN_RESPONSES[201] },
    errors: ['unauthenticated', 'forbidden'],
    async handler({ services, body, ipAddress, requestId, headers, browser, publicUrl }) {
      if (body.cookie === true) browser.requireOwnPage();
      const origin = { ipAddress, requestId, userAgent: headers['user-agent'] };
      const session = await signInByPasskey(services, { passkey: body.passkey, publicUrl }, origin);
      return answerSession(session, body.cookie === true, browser);
    },
  }),
  route({
    method: 'POST',
    path: '/api/sessions/second-factor/passkey',
    operationId: 'beginPasskeyStep',
    withoutCall,
    tag,
    summary: 'Begin the second step of a sign-in with a passkey',
    description: 'The answer of the browser goes to POST /api/sessions/second-factor, as `passkey`.',
    auth: 'public',
    body: closed({ challenge: Type.String({ minLength: 1, maxLength: 128 }) }, { title: 'PasskeyStep' }),
    bodyExample: { challenge: challengeExample.challenge },
    responses: asked,
    errors: ['unauthenticated', 'conflict'],
    handler: async ({ services, body, publicUrl }) => ({
      status: 201,
      body: await beginPasskeyStep(services, body.challenge, publicUrl),
    }),
  }),
  route({
    method: 'GET',
    path: BASE,
    operationId: 'listPasskeys',
    withoutCall,
    tag,
    summary: 'List your passkeys',
    description: `In the order in which they were added; at most ${PASSKEYS_PER_PERSON_MAX}.`,
    auth: 'session',
    responses: {
      200: {
        description: 'The passkeys.',
        schema: PasskeyList,
        example: { data: [passkeyExample], origin: 'https://mail.example.com' },
      },
    },
    async handler({ services, principal, publicUrl }) {
      const data = (await listPasskeys(services.db, principal.id)).map(presentPasskey);
      return { status: 200, body: { data, origin: relyingPartyOf(publicUrl)?.origin ?? null } };
    },
  }),
  route({
    method: 'POST',
    path: `${BASE}/begin`,
    operationId: 'beginPasskey',
    withoutCall,
    tag,
    summary: 'Begin to add a passkey',
    description: 'Needs the password. The answer of the browser is awaited for five minutes, once, from this session.',
    auth: 'session',
    body: OwnPassword,
    bodyExample: { password: 'correct horse battery staple' },
    responses: {
      201: { description: 'What the browser is to make.', schema: PasskeyCreation, example: creationExample },
    },
    errors: ['unauthenticated', 'rate_limited', 'conflict'],
    handler: async ({ services, principal, body, ipAddress, publicUrl }) => ({
      status: 201,
      body: await beginPasskey(services, principal, { password: body.password, ipAddress, publicUrl }),
    }),
  }),
  route({
    method: 'POST',
    path: BASE,
    operationId: 'addPasskey',
    withoutCall,
    tag,
    summary: 'Add a passkey',
    description: `If it is the first second factor of the account, the answer has ${RECOVERY_CODES} recovery codes, and all other sessions of the person end. The person gets a mail about it.`,
    auth: 'session',
    body: AddPasskey,
    bodyExample: { name: 'Laptop', passkey: registrationExample },
    secretFields: ['recoveryCodes'],
    responses: {
      201: {
        description: 'Added.',
        schema: NewPasskey,
        example: { passkey: passkeyExample, recoveryCodes: ['k3m9w-x7q2d', 'p8t4r-b6n5c'] },
      },
    },
    errors: ['unauthenticated', 'conflict'],
    async handler({ services, temporal, principal, caller, body, publicUrl }) {
      const { passkey, recoveryCodes, notices } = await addPasskey(services, principal, { ...body, publicUrl }, caller);
      await sendNotices(services, temporal, notices);
      return { status: 201, body: { passkey: presentPasskey(passkey), recoveryCodes } };
    },
  }),
  route({
    method: 'POST',
    path: `${BASE}/confirmation`,
    operationId: 'beginPasskeyConfirmation',
    withoutCall,
    tag,
    summary: 'Begin to confirm a change by a passkey',
    description:
      'For the removal of a passkey or of the authenticator app, and for new recovery codes: the answer of the browser is their `passkey`.',
    auth: 'session',
    responses: asked,
    errors: ['conflict'],
    handler: async ({ services, principal, publicUrl }) => ({
      status: 201,
      body: await beginConfirmation(services, principal, publicUrl),
    }),
  }),
  route({
    method: 'POST',
    path: `${BASE}/:id/remove`,
    operationId: 'removePasskey',
    withoutCall,
    tag,
    summary: 'Remove a passkey',
    description:
      'By a fresh code, of the app or a recovery code, or by a passkey, this one or another. The last factor of an account stays while an organization of the person requires one. The person gets a mail about it.',
    auth: 'session',
    params: PasskeyParams,
    body: ProofOfPerson,
    bodyExample: { code: '123456' },
    responses: { 204: { description: 'Removed.' } },
    errors: ['unauthenticated', 'rate_limited', 'conflict', 'not_found'],
    async handler({ services, temporal, principal, caller, ipAddress, params, body, publicUrl }) {
      const proof = proofOf(body, publicUrl);
      const notices = await removePasskey(services, principal, params.id, proof, { ...caller, ipAddress });
      await sendNotices(services, temporal, notices);
      return { status: 204 };
    },
  }),
];
