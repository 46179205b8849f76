/** Single sign-on: by the OpenID provider of the installation, and the accounts that are linked to it. */
import Type, { type Static } from 'typebox';
import { FORM_IN_BROWSER, type Route, route } from '#api/http/route.ts';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import { oidcProviderOf } from '#core/accounts/oidc/provider.ts';
import {
  beginOidcSignIn,
  finishOidcSignIn,
  linkOidc,
  listOidcIdentities,
  type OidcLink,
  removeOidcIdentity,
} from '#core/accounts/oidc/sign-in.ts';
import { PASSWORD_MAX_LENGTH } from '#domain/access/credential-format.ts';
import { OIDC_QUERY_MAX_CHARACTERS } from '#domain/access/oidc.ts';
import { idPattern } from '#domain/ids.ts';
import { ANY_TEXT } from '#domain/mail/text-forms.ts';
import { answerSignIn, SIGN_IN_RESPONSES } from './answer-sign-in.ts';

const tag = 'Sessions';
const BASE = '/api/sessions/oidc';
const OWN = '/api/sessions/current/oidc';
const withoutCall = { client: FORM_IN_BROWSER };
const cookie = Type.Optional(Type.Boolean({ description: 'For pages of this service, as at sign-in.' }));
const SECRET = 'vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M';

const Offer = closed(
  { name: nullable(Type.String({ description: 'What the provider is called; null: there is none.' })) },
  { title: 'SingleSignOn' },
);

const Begun = closed(
  {
    url: Type.String({ description: 'Where the browser signs in. It returns to the page /sign-in/oidc.' }),
    browserKey: nullable(
      Type.String({ description: 'Kept by the browser that began, for its return. Shown in this answer only.' }),
    ),
  },
  { title: 'SingleSignOnBegun' },
);

const Return = closed(
  {
    query: Type.String({
      minLength: 1,
      maxLength: OIDC_QUERY_MAX_CHARACTERS,
      description: 'Query of the address to which the provider led back.',
    }),
    browserKey: Type.String({ minLength: 1, maxLength: 128 }),
    cookie,
  },
  { title: 'SingleSignOnReturn' },
);

const LinkNeeded = closed(
  {
    link: nullable(Type.String({ description: `For POST ${BASE}/link. Opens nothing; shown in this answer only.` })),
    email: Type.String({ description: 'Of the account whose password is asked for.' }),
    expiresAt: dateTime(),
  },
  { title: 'SingleSignOnLinkNeeded' },
);

const Link = closed(
  {
    link: Type.String({ minLength: 1, maxLength: 128 }),
    password: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH, pattern: ANY_TEXT }),
    cookie,
  },
  { title: 'SingleSignOnLink' },
);

const Identity = closed(
  {
    id: Type.String({ pattern: idPattern('oidcIdentity') }),
    issuer: Type.String(),
    createdAt: dateTime(),
    lastUsedAt: nullable(dateTime()),
  },
  { title: 'LinkedAccount' },
);

const presentLink = ({ token, email, expiresAt }: OidcLink): Static<typeof LinkNeeded> => ({
  link: token,
  email,
  expiresAt: expiresAt.toISOString(),
});

export const oidcRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: BASE,
    operationId: 'getSingleSignOn',
    withoutCall,
    tag,
    summary: 'Whether people sign in by an OpenID provider',
    auth: 'public',
    responses: { 200: { description: 'The provider.', schema: Offer, example: { name: 'Example Staff' } } },
    handler: async ({ services }) => ({
      status: 200,
      body: { name: oidcProviderOf(services.settings)?.name ?? null },
    }),
  }),
  route({
    method: 'POST',
    path: `${BASE}/begin`,
    operationId: 'beginSingleSignOn',
    withoutCall,
    tag,
    summary: 'Begin to sign in by the OpenID provider',
    auth: 'public',
    secretFields: ['browserKey'],
    responses: {
      201: {
        description: 'Where to go.',
        schema: Begun,
        example: { url: 'https://login.example.com/auth?client_id=mailbox', browserKey: SECRET },
      },
    },
    errors: ['not_found', 'rate_limited', 'unavailable'],
    handler: async ({ services, ipAddress, publicUrl }) => ({
      status: 201,
      body: await beginOidcSignIn(services, ipAddress, publicUrl),
    }),
  }),
  route({
    method: 'POST',
    path: BASE,
    operationId: 'finishSingleSignOn',
    withoutCall,
    tag,
    summary: 'Sign in with what the OpenID provider answered',
    description:
      'An account that is not linked yet is found by its verified address, and its password is asked for (200). If the account has a second factor that the provider did not see, the answer is 202, as at a sign-in by password.',
    auth: 'public',
    body: Return,
    bodyExample: { query: 'code=abc&state=def', browserKey: SECRET },
    secretFields: ['token', 'challenge', 'link'],
    responses: {
      ...SIGN_IN_RESPONSES,
      200: {
        description: 'The password of the account is needed, once.',
        schema: LinkNeeded,
        example: { link: SECRET, email: 'ada@example.com', expiresAt: '2026-11-21T09:25:00.000Z' },
      },
    },
    errors: ['not_found', 'unauthenticated', 'forbidden'],
    async handler({ services, body, ipAddress, requestId, headers, browser, publicUrl }) {
      if (body.cookie === true) browser.requireOwnPage();
      const origin = { ipAddress, requestId, userAgent: headers['user-agent'] };
      const step = await finishOidcSignIn(services, body, publicUrl, origin);
      if ('link' in step) return { status: 200, body: presentLink(step.link) };
      return answerSignIn(step, body.cookie === true, browser);
    },
  }),
  route({
    method: 'POST',
    path: `${BASE}/link`,
    operationId: 'linkSingleSignOn',
    withoutCall,
    tag,
    summary: 'Link an account to the OpenID provider by its password',
    description: 'And sign in. An account with a second factor is linked by the second step. The person gets a mail.',
    auth: 'public',
    body: Link,
    bodyExample: { link: SECRET, password: 'correct horse battery staple' },
    secretFields: ['token', 'challenge'],
    responses: SIGN_IN_RESPONSES,
    errors: ['unauthenticated', 'rate_limited', 'forbidden'],
    async handler({ services, body, ipAddress, requestId, headers, browser }) {
      if (body.cookie === true) browser.requireOwnPage();
      const origin = { ipAddress, requestId, userAgent: headers['user-agent'] };
      return answerSignIn(await linkOidc(services, body, origin), body.cookie === true, browser);
    },
  }),
  route({
    method: 'GET',
    path: OWN,
    operationId: 'listLinkedAccounts',
    withoutCall,
    tag,
    summary: 'List what your account is linked to',
    auth: 'session',
    responses: {
      200: {
        description: 'The linked accounts.',
        schema: closed({ data: Type.Array(Identity) }, { title: 'LinkedAccountList' }),
        example: {
          data: [
            {
              id: 'oid_01k8e8f2c0e4x9w2v7a3r5t6y8',
              issuer: 'https://login.example.com/realms/staff',
              createdAt: '2026-11-21T09:15:00.000Z',
              lastUsedAt: '2026-11-22T08:01:12.000Z',
            },
          ],
        },
      },
    },
    async handler({ services, principal }) {
      const data = (await listOidcIdentities(services.db, principal.id)).map((each) => ({
        id: each.id,
        issuer: each.issuer,
        createdAt: each.createdAt.toISOString(),
        lastUsedAt: each.lastUsedAt?.toISOString() ?? null,
      }));
      return { status: 200, body: { data } };
    },
  }),
  route({
    method: 'DELETE',
    path: `${OWN}/:id`,
    operationId: 'deleteLinkedAccount',
    withoutCall,
    tag,
    summary: 'Separate your account from the OpenID provider',
    description: 'The password still signs in. The person gets a mail.',
    auth: 'session',
    params: closed({ id: Type.String({ pattern: idPattern('oidcIdentity') }) }),
    responses: { 204: { description: 'Separated.' } },
    errors: ['not_found'],
    async handler({ services, principal, params, ipAddress, requestId }) {
      await removeOidcIdentity(services, principal, params.id, { ipAddress, requestId });
      return { status: 204 };
    },
  }),
];
