import { requireGroup } from '#api/auth/authorize.ts';
import { type Principal, reachOf } from '#api/http/principal.ts';
import { type Route, route } from '#api/http/route.ts';
import { listBody, pageOf } from '#api/http/schema-parts.ts';
import { connectionSnippets, TOKEN_PLACEHOLDER } from '#client/snippets.ts';
import { mailConnection } from '#core/mailboxes/client-settings.ts';
import { createMailbox } from '#core/mailboxes/create-mailbox.ts';
import { deleteMailbox } from '#core/mailboxes/delete-mailbox.ts';
import { getMailbox, listMailboxes } from '#core/mailboxes/mailbox-queries.ts';
import { resumeSending } from '#core/mailboxes/sending-health.ts';
import { rotateMailboxToken, updateMailbox } from '#core/mailboxes/update-mailbox.ts';
import { requireDecider } from '#core/organizations/may-decide.ts';
import { CatalogueError } from '#domain/errors.ts';
import { reaches } from '#domain/organizations/mailboxes.ts';
import { setCanary } from '#sending/canaries/plant-canary.ts';
import { signalDecided } from '#sending/submit/start-outbound.ts';
import {
  Connection,
  ConnectionSnippetList,
  CreatedMailbox,
  CreateMailbox,
  connectionExample,
  Mailbox,
  MailboxList,
  MailboxParams,
  MailboxQuery,
  MailboxWithToken,
  mailboxExample,
  mailboxWithTokenExample,
  presentMailbox,
  presentMailboxWithToken,
  snippetsExample,
  UpdateMailbox,
} from './schema.ts';

const tag = 'Mailboxes';

/** The group of a mailbox that is made without one: that of a key which is limited to one. */
const onlyGroup = (principal: Principal): string | null => {
  const [group, another] = reachOf(principal) ?? [];
  return another === undefined ? (group ?? null) : null;
};

const timeGiven = (given: string | null | undefined): Date | null =>
  given === undefined || given === null ? null : new Date(given);

export const mailboxRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/mailboxes',
    operationId: 'createMailbox',
    tag,
    summary: 'Create a mailbox',
    description:
      'Returns the address, the connection settings and the mailbox token, which is shown only once. With `clientId` a repeated creation returns the existing mailbox, with `token` null; another creation with the same `clientId` is a conflict.',
    auth: { scope: 'mailbox:create' },
    body: CreateMailbox,
    bodyExample: {
      localPart: 'order-desk',
      name: 'Order desk',
      purpose: 'Answers questions about orders',
      group: 'orders',
      metadata: { team: 'orders' },
      clientId: 'order-desk-1',
    },
    secretFields: ['token'],
    oneTransaction: true,
    limitedKeys: true,
    responses: {
      200: {
        description: 'The existing mailbox with this `clientId`.',
        schema: CreatedMailbox,
        example: { ...mailboxWithTokenExample, token: null, repeated: true },
      },
      201: {
        description: 'The new mailbox.',
        schema: CreatedMailbox,
        example: { ...mailboxWithTokenExample, repeated: false },
      },
    },
    errors: ['invalid_local_part', 'plan_limit_reached', 'conflict'],
    async handler({ services, organization, principal, caller, body }) {
      const group = body.group ?? onlyGroup(principal);
      requireGroup(principal, group);
      const expiresAt = timeGiven(body.expiresAt);
      const { mailbox, token } = await createMailbox(services, organization, caller, { ...body, group, expiresAt });
      if (!reaches(reachOf(principal), mailbox.group))
        throw new CatalogueError('conflict', 'The clientId belongs to a mailbox that this key does not reach.');
      const shown = presentMailboxWithToken(mailbox, token, mailConnection(services.settings, mailbox.address));
      const repeated = token === null;
      return { status: repeated ? 200 : 201, body: { ...shown, repeated } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes',
    operationId: 'listMailboxes',
    tag,
    summary: 'List mailboxes, newest first',
    auth: { scope: 'mailbox:read' },
    limitedKeys: true,
    query: MailboxQuery,
    responses: {
      200: {
        description: 'A page of mailboxes.',
        schema: MailboxList,
        example: { data: [mailboxExample], nextCursor: null },
      },
    },
    async handler({ services, organization, principal, query }) {
      const page = pageOf('mailbox', query);
      const filter = { ...query, reach: reachOf(principal) };
      const rows = await listMailboxes(services.db, organization.id, filter, page);
      return { status: 200, body: listBody(rows, page, presentMailbox) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes/:id',
    operationId: 'getMailbox',
    tag,
    summary: 'Get a mailbox',
    auth: { scope: 'mailbox:read', mailboxToken: true },
    tokenNeeds: 'any',
    params: MailboxParams,
    etag: true,
    responses: { 200: { description: 'The mailbox.', schema: Mailbox, example: mailboxExample } },
    errors: ['not_found'],
    handler: async ({ services, organization, params }) => ({
      status: 200,
      body: presentMailbox(await getMailbox(services.db, organization.id, params.id)),
    }),
  }),
  route({
    method: 'PATCH',
    path: '/api/mailboxes/:id',
    operationId: 'updateMailbox',
    tag,
    summary:
      'Change name, purpose, group, metadata, status, expiry, retention, brakes of sending, or what happens to unauthenticated mail',
    description:
      'Omitted fields do not change. `unauthenticatedMail` takes effect within seconds. `sendingMode` and `budgets` are brakes: an API key may tighten them, only a session may loosen them. An API key may also suspend a mailbox; only a session may make it active again. A request that sets `stopped` is answered when no message is being transmitted any more, after ten seconds at most.',
    auth: { scope: 'mailbox:write' },
    params: MailboxParams,
    body: UpdateMailbox,
    bodyExample: { name: 'Order desk', metadata: { team: 'orders' }, status: 'suspended' },
    responses: { 200: { description: 'The mailbox as it is now.', schema: Mailbox, example: mailboxExample } },
    errors: ['not_found', 'conflict', 'forbidden'],
    async handler({ services, temporal, organization, principal, caller, params, body }) {
      if (body.group !== undefined) requireGroup(principal, body.group);
      if (body.canary !== undefined) await setCanary(services, organization.id, params.id, caller, body.canary);
      const { expiresAt, ...changes } = body;
      const woken = await updateMailbox(services, organization.id, params.id, caller, {
        ...changes,
        ...(expiresAt === undefined ? {} : { expiresAt: timeGiven(expiresAt) }),
      });
      await signalDecided(services, temporal, woken);
      return { status: 200, body: presentMailbox(await getMailbox(services.db, organization.id, params.id)) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/mailboxes/:id/rotate-token',
    operationId: 'rotateMailboxToken',
    tag,
    summary: 'Replace the mailbox token',
    description:
      'Replaces the first token, which was made with the mailbox. The old one becomes invalid at once, for every protocol; other tokens of the mailbox remain valid.',
    auth: { scope: 'mailbox:write' },
    params: MailboxParams,
    secretFields: ['token'],
    responses: {
      200: {
        description: 'The mailbox with its new token.',
        schema: MailboxWithToken,
        example: mailboxWithTokenExample,
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      const token = await rotateMailboxToken(services, organization.id, params.id, caller);
      const mailbox = await getMailbox(services.db, organization.id, params.id);
      const connection = mailConnection(services.settings, mailbox.address);
      return { status: 200, body: presentMailboxWithToken(mailbox, token, connection) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/mailboxes/:id/resume-sending',
    operationId: 'resumeMailboxSending',
    tag,
    summary: 'Resume sending of a paused mailbox',
    description:
      'Sending is paused when too many recipients bounced or complained; find out why first. Counting starts anew. Does nothing if the mailbox is neither paused nor flagged. Needs a person: an API key may do it only if the organization sets `consentByApiKey`.',
    auth: { scope: 'mailbox:write' },
    params: MailboxParams,
    responses: { 200: { description: 'The mailbox as it is now.', schema: Mailbox, example: mailboxExample } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await getMailbox(services.db, organization.id, params.id);
      await requireDecider(services.db, organization.id, caller);
      await resumeSending(services, organization.id, params.id, caller);
      return { status: 200, body: presentMailbox(await getMailbox(services.db, organization.id, params.id)) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/mailboxes/:id',
    operationId: 'deleteMailbox',
    tag,
    summary: 'Delete a mailbox',
    description:
      'Its endpoints are deleted and their waiting deliveries stopped; organization endpoints receive `mailbox_deleted`. The address is not reused for 30 days.',
    auth: { scope: 'mailbox:delete' },
    params: MailboxParams,
    responses: { 204: { description: 'Deleted.' } },
    errors: ['not_found'],
    async handler({ services, temporal, organization, caller, params }) {
      await deleteMailbox(services, temporal, organization, params.id, caller);
      return { status: 204 };
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/connection',
    operationId: 'getMailboxConnection',
    tag,
    summary: 'Settings for mail clients',
    auth: { scope: 'mailbox:read', mailboxToken: true },
    tokenNeeds: 'any',
    params: MailboxParams,
    responses: {
      200: { description: 'Host, port and security of each listener.', schema: Connection, example: connectionExample },
    },
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      const { address } = await getMailbox(services.db, organization.id, params.id);
      return { status: 200, body: mailConnection(services.settings, address) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/snippets',
    operationId: 'listMailboxSnippets',
    withoutCall: { cli: 'Snippets of the token’s own mailbox are shown by `connection --snippets`.' },
    tag,
    summary: 'Snippets that connect a program to the mailbox',
    description: 'For the command line, mail clients, TypeScript, cURL and MCP, with the addresses of this instance.',
    auth: { scope: 'mailbox:read', mailboxToken: true },
    tokenNeeds: 'any',
    params: MailboxParams,
    responses: {
      200: {
        description: 'One text for each way to connect.',
        schema: ConnectionSnippetList,
        example: snippetsExample,
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, params, publicUrl }) {
      const { address } = await getMailbox(services.db, organization.id, params.id);
      const connection = mailConnection(services.settings, address);
      const data = connectionSnippets({ apiUrl: publicUrl, address, token: TOKEN_PLACEHOLDER, ...connection });
      return { status: 200, body: { data } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailbox',
    operationId: 'getOwnMailbox',
    tag,
    summary: 'The mailbox of the mailbox token',
    auth: 'mailbox_token',
    tokenNeeds: 'any',
    etag: true,
    responses: { 200: { description: 'The mailbox.', schema: Mailbox, example: mailboxExample } },
    handler: async ({ services, organization, principal }) => ({
      status: 200,
      body: presentMailbox(await getMailbox(services.db, organization.id, principal.id)),
    }),
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/connection',
    operationId: 'getOwnMailboxConnection',
    tag,
    summary: 'Settings for mail clients, for the mailbox token',
    description: 'For a client that has only its token.',
    auth: 'mailbox_token',
    tokenNeeds: 'any',
    responses: {
      200: { description: 'Host, port and security of each listener.', schema: Connection, example: connectionExample },
    },
    handler: async ({ services, principal }) => ({
      status: 200,
      body: mailConnection(services.settings, principal.address),
    }),
  }),
];
