/** Requests of programs for access to a mailbox by OAuth, which a person decides, and the programs that have access. */

import Type from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { closed, dateTime, nullable, timeOf } from '#api/http/schema-parts.ts';
import { MailboxParams } from '#api/mailboxes/schema.ts';
import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import { deleteGrant, type Grant as GrantRow, listGrants } from '#core/oauth/grants.ts';
import { decideOAuthRequest, limitOAuthRequests, storeOAuthRequest } from '#core/oauth/requests.ts';
import {
  hostOfClient,
  isLoopback,
  OAUTH_QUERY_MAX_CHARACTERS,
  OAUTH_REQUEST_LIFE_SECONDS,
} from '#domain/access/oauth.ts';
import { CatalogueError } from '#domain/errors.ts';
import { idPattern } from '#domain/ids.ts';
import { TOKEN_ACCESSES } from '#domain/organizations/mailboxes.ts';
import { readAuthorizationRequest } from './authorization-request.ts';

const DECIDED_IN_BROWSER =
  'A person decides in the browser which programs may use a mailbox, sees them there and ends their access.';

const tag = 'Connected programs';
const GRANT_ID = 'oag_01k8e8f2c0e4x9w2v7a3r5t6y8';
const REQUEST_ID = 'oar_01k8e8f2c0e4x9w2v7a3r5t6y8';
const CLIENT_ID = 'https://host.example/oauth/client.json';

const Access = Type.Enum(TOKEN_ACCESSES, {
  description:
    '`full`: everything. `read`: can only read. `send`: can only send, and read the status of sent messages.',
});

const ClientId = Type.String({
  description: 'Address of the document that describes the program, or the id of its registration, `oac_…`.',
});
const ClientHost = nullable(
  Type.String({
    description: 'Host of the document. Only it confirms the name; null: the program registered itself, nobody does.',
  }),
);

const NewOAuthRequest = closed(
  {
    query: Type.String({
      minLength: 1,
      maxLength: OAUTH_QUERY_MAX_CHARACTERS,
      description: 'The query of the authorization request, as the program wrote it.',
    }),
  },
  { title: 'NewOAuthRequest' },
);

const OAuthRequest = closed(
  {
    id: Type.String({ pattern: idPattern('oauthRequest') }),
    clientId: ClientId,
    clientName: Type.String({ description: 'What the program calls itself: anybody could call it so.' }),
    clientHost: ClientHost,
    redirectHost: nullable(
      Type.String({ description: 'Host that receives the access; null: a program on the computer of the browser.' }),
    ),
    accesses: Type.Array(Type.Enum(TOKEN_ACCESSES), {
      description: 'The accesses that it asks for, one of which can be granted.',
    }),
    expiresAt: dateTime(),
  },
  { title: 'OAuthRequest' },
);

const OAuthRequestParams = closed({ id: Type.String({ pattern: idPattern('oauthRequest') }) });

const OAuthDecision = closed(
  {
    approve: Type.Boolean(),
    mailboxId: Type.Optional(Type.String({ pattern: idPattern('mailbox'), description: 'Required to approve.' })),
    access: Type.Optional(Access),
  },
  { title: 'OAuthDecision' },
);

const OAuthRedirect = closed(
  {
    redirectUrl: nullable(
      Type.String({
        description: 'Address to open in the browser now. It contains a code that is valid for a minute, once.',
      }),
    ),
  },
  { title: 'OAuthRedirect' },
);

const Grant = closed(
  {
    id: Type.String({ pattern: idPattern('oauthGrant') }),
    clientId: ClientId,
    clientName: Type.String({ description: 'What the program calls itself: anybody could call it so.' }),
    clientHost: ClientHost,
    access: Access,
    createdBy: Type.String({ description: 'The member who granted the access, which ends with the membership.' }),
    createdAt: dateTime(),
    lastUsedAt: nullable(dateTime('Written at most once a minute.')),
  },
  { title: 'Grant' },
);

const GrantList = closed({ data: Type.Array(Grant) }, { title: 'GrantList' });

const GrantParams = closed({
  id: Type.String({ pattern: idPattern('mailbox') }),
  grantId: Type.String({ pattern: idPattern('oauthGrant') }),
});

const presentGrant = ({ userName, createdAt, lastUsedAt, ...grant }: GrantRow) => ({
  ...grant,
  clientHost: hostOfClient(grant.clientId),
  createdBy: userName,
  createdAt: createdAt.toISOString(),
  lastUsedAt: timeOf(lastUsedAt),
});

/** Null for programs on the same computer, whether they listen on a port or have their own scheme. */
function redirectHostOf(redirectUri: string): string | null {
  const url = new URL(redirectUri);
  return isLoopback(url) || url.protocol !== 'https:' ? null : url.host;
}

export const oauthRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/oauth/requests',
    operationId: 'beginOAuthRequest',
    withoutCall: { client: DECIDED_IN_BROWSER },
    tag,
    summary: 'See which program asks for a mailbox',
    description: `Fetches the document of the program, or reads its registration, and checks the request. The same person can decide the request within ${OAUTH_REQUEST_LIFE_SECONDS / 60} minutes.`,
    auth: 'session',
    body: NewOAuthRequest,
    bodyExample: { query: `response_type=code&client_id=${encodeURIComponent(CLIENT_ID)}` },
    oneTransaction: true,
    responses: {
      201: {
        description: 'The program, and what it asks for.',
        schema: OAuthRequest,
        example: {
          id: REQUEST_ID,
          clientId: CLIENT_ID,
          clientName: 'Example Host',
          clientHost: 'host.example',
          redirectHost: null,
          accesses: ['full' as const, 'read' as const, 'send' as const],
          expiresAt: '2026-11-21T09:25:00.000Z',
        },
      },
    },
    errors: ['rate_limited'],
    async handler({ services, principal, body, publicUrl }) {
      await limitOAuthRequests(services, principal.id);
      const asked = await readAuthorizationRequest(services, body.query, publicUrl);
      const { id, expiresAt } = await storeOAuthRequest(services, principal.id, asked);
      return {
        status: 201,
        body: {
          id,
          clientId: asked.client.id,
          clientName: asked.client.name,
          clientHost: hostOfClient(asked.client.id),
          redirectHost: redirectHostOf(asked.redirectUri),
          accesses: asked.accesses.slice(),
          expiresAt: expiresAt.toISOString(),
        },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/api/oauth/requests/:id/decide',
    operationId: 'decideOAuthRequest',
    withoutCall: { client: DECIDED_IN_BROWSER },
    tag,
    summary: 'Let a program use a mailbox, or refuse it',
    description:
      'Only the person who opened the request can decide it. The program gets the access to one mailbox, by tokens for MCP that it renews itself. It can never decide about held mail.',
    auth: { role: 'member' },
    params: OAuthRequestParams,
    body: OAuthDecision,
    bodyExample: { approve: true, mailboxId: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8', access: 'read' },
    secretFields: ['redirectUrl'],
    responses: {
      200: {
        description: 'Decided.',
        schema: OAuthRedirect,
        example: { redirectUrl: 'http://127.0.0.1:33418/callback?code=amc_…&iss=https%3A%2F%2Fmail.example.com' },
      },
    },
    errors: ['not_found'],
    async handler({ services, principal, organization, caller, params, body, publicUrl }) {
      const { approve, mailboxId, access } = body;
      if (approve && (mailboxId === undefined || access === undefined))
        throw new CatalogueError('invalid_request', undefined, {
          details: [{ path: mailboxId === undefined ? '/mailboxId' : '/access', message: 'is required to approve' }],
        });
      const decision = approve && mailboxId !== undefined && access !== undefined ? { mailboxId, access } : null;
      const { id: userId, secondFactorAt } = principal;
      const decider = { userId, secondFactorAt, organizationId: organization.id, caller };
      return { status: 200, body: await decideOAuthRequest(services, params.id, decider, decision, publicUrl) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/grants',
    operationId: 'listGrants',
    withoutCall: { client: DECIDED_IN_BROWSER },
    tag,
    summary: 'List the programs that have access to a mailbox',
    description: 'Programs to which a person granted access by OAuth, newest first; at most 100.',
    auth: { role: 'member' },
    params: MailboxParams,
    responses: {
      200: {
        description: 'The programs.',
        schema: GrantList,
        example: {
          data: [
            {
              id: GRANT_ID,
              clientId: CLIENT_ID,
              clientName: 'Example Host',
              clientHost: 'host.example',
              access: 'read' as const,
              createdBy: 'Ada Lovelace',
              createdAt: '2026-11-21T09:15:00.000Z',
              lastUsedAt: null,
            },
          ],
        },
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      const { id } = await getMailbox(services.db, organization.id, params.id);
      const rows = await listGrants(services.db, organization.id, id, new Date(services.now()));
      return { status: 200, body: { data: rows.map(presentGrant) } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/mailboxes/:id/grants/:grantId',
    operationId: 'deleteGrant',
    withoutCall: { client: DECIDED_IN_BROWSER },
    tag,
    summary: 'End the access of a program',
    description: 'Its tokens become invalid at once.',
    auth: { role: 'member' },
    params: GrantParams,
    responses: { 204: { description: 'Ended.' } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await deleteGrant(services, organization.id, params.id, params.grantId, caller);
      return { status: 204 };
    },
  }),
];
