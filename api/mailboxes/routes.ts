import { createMailbox } from '../../core/create-mailbox.ts';
import { deleteMailbox } from '../../core/delete-mailbox.ts';
import { mailConnection } from '../../core/mail-connection.ts';
import { getMailbox, listMailboxes } from '../../core/mailbox-queries.ts';
import { resumeSending } from '../../core/sending-health.ts';
import { rotateMailboxToken, updateMailbox } from '../../core/update-mailbox.ts';
import { listBody, pageOf } from '../pagination.ts';
import { type Route, route } from '../route.ts';
import { connectionExample, mailboxExample, mailboxWithTokenExample } from './examples.ts';
import { presentMailbox, presentMailboxWithToken } from './present.ts';
import {
  Connection,
  CreateMailbox,
  Mailbox,
  MailboxList,
  MailboxParams,
  MailboxQuery,
  MailboxWithToken,
  UpdateMailbox,
} from './schema.ts';

const tag = 'Mailboxes';

export const mailboxRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/mailboxes',
    operationId: 'createMailbox',
    tag,
    summary: 'Create a mailbox',
    description:
      'Answers the address, the connection settings and, this once, the mailbox token. With `clientId` a repeated creation answers the mailbox that is there, with `token` null.',
    auth: { scope: 'mailbox:create' },
    body: CreateMailbox,
    bodyExample: {
      localPart: 'order-desk',
      name: 'Order desk',
      metadata: { team: 'orders' },
      clientId: 'order-desk-1',
    },
    secretFields: ['token'],
    responses: {
      200: {
        description: 'The mailbox of this `clientId`, which was there already.',
        schema: MailboxWithToken,
        example: { ...mailboxWithTokenExample, token: null },
      },
      201: { description: 'The new mailbox.', schema: MailboxWithToken, example: mailboxWithTokenExample },
    },
    errors: ['invalid_local_part', 'plan_limit_reached', 'conflict'],
    async handler({ services, organization, caller, body }) {
      const { mailbox, token } = await createMailbox(services, organization, caller, body);
      const shown = presentMailboxWithToken(mailbox, token, mailConnection(services.settings, mailbox.address));
      return { status: token === null ? 200 : 201, body: shown };
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes',
    operationId: 'listMailboxes',
    tag,
    summary: 'List mailboxes, newest first',
    auth: { scope: 'mailbox:read' },
    query: MailboxQuery,
    responses: {
      200: {
        description: 'A page of mailboxes.',
        schema: MailboxList,
        example: { data: [mailboxExample], nextCursor: null },
      },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('mailbox', query);
      const rows = await listMailboxes(services.db, organization.id, query, page);
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
    summary: 'Change name, metadata, status, or what happens to unauthenticated mail',
    description: 'What is left out stays. `unauthenticatedMail` takes effect within seconds.',
    auth: { scope: 'mailbox:write' },
    params: MailboxParams,
    body: UpdateMailbox,
    bodyExample: { name: 'Order desk', metadata: { team: 'orders' }, status: 'suspended' },
    responses: { 200: { description: 'The mailbox as it is now.', schema: Mailbox, example: mailboxExample } },
    errors: ['not_found', 'conflict'],
    async handler({ services, organization, caller, params, body }) {
      await updateMailbox(services, organization.id, params.id, caller, body);
      return { status: 200, body: presentMailbox(await getMailbox(services.db, organization.id, params.id)) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/mailboxes/:id/rotate-token',
    operationId: 'rotateMailboxToken',
    tag,
    summary: 'Replace the mailbox token',
    description: 'The old token dies at once, on every door.',
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
    summary: 'Let a paused mailbox send again',
    description:
      'Sending is paused when too many recipients bounced or complained; find out why before. Rates are counted anew from here on. Does nothing where nothing is paused or flagged.',
    auth: { scope: 'mailbox:write' },
    params: MailboxParams,
    responses: { 200: { description: 'The mailbox as it is now.', schema: Mailbox, example: mailboxExample } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
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
      'Its endpoints are deleted and their waiting deliveries stopped; organization endpoints hear `mailbox_deleted`. The address is not given out again for 30 days.',
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
    params: MailboxParams,
    responses: {
      200: { description: 'Host, port and security of each door.', schema: Connection, example: connectionExample },
    },
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      const { address } = await getMailbox(services.db, organization.id, params.id);
      return { status: 200, body: mailConnection(services.settings, address) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailbox',
    operationId: 'getOwnMailbox',
    tag,
    summary: 'The mailbox of the mailbox token',
    auth: 'mailbox_token',
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
    description: 'What a client needs that knows nothing but its token.',
    auth: 'mailbox_token',
    responses: {
      200: { description: 'Host, port and security of each door.', schema: Connection, example: connectionExample },
    },
    handler: async ({ services, principal }) => ({
      status: 200,
      body: mailConnection(services.settings, principal.address),
    }),
  }),
];
