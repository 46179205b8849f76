import { type Route, route } from '#api/http/route.ts';
import { listBody, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { createApiKey, deleteApiKey, getApiKey, listApiKeys, updateApiKey } from '#core/accounts/api-keys.ts';
import { presentKey, presentNewKey } from './present.ts';
import { CreateKey, Key, KeyList, KeyParams, KeyWithSecret, UpdateKey } from './schema.ts';

const tag = 'API keys';

const example = {
  id: 'key_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Order agent',
  scopes: ['mailbox:create', 'mailbox:read'],
  mailboxGroups: ['orders'],
  keyHint: 'amk_vB0o',
  expiresAt: '2027-11-21T00:00:00.000Z',
  lastUsedAt: null,
  createdBy: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:00.000Z',
};

const expiry = (text: string | null | undefined): Date | null =>
  text === null || text === undefined ? null : new Date(text);

export const keyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/keys',
    operationId: 'listKeys',
    tag,
    summary: 'List API keys, newest first',
    auth: { role: 'admin' },
    query: PageQuery,
    responses: {
      200: { description: 'A page of keys.', schema: KeyList, example: { data: [example], nextCursor: null } },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('apiKey', query);
      return { status: 200, body: listBody(await listApiKeys(services, organization.id, page), page, presentKey) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/keys',
    operationId: 'createKey',
    tag,
    summary: 'Create an API key',
    description: 'The key is shown in this answer only.',
    auth: { role: 'admin' },
    body: CreateKey,
    bodyExample: {
      name: 'Order agent',
      scopes: ['mailbox:create', 'mailbox:read'],
      mailboxGroups: ['orders'],
      expiresAt: '2099-01-01T00:00:00.000Z',
    },
    secretFields: ['key'],
    responses: {
      201: {
        description: 'The new key.',
        schema: KeyWithSecret,
        example: { ...example, key: 'amk_vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M4k7d2q' },
      },
    },
    errors: ['conflict'],
    async handler({ services, organization, caller, body }) {
      const { name, scopes, mailboxGroups = null } = body;
      const input = { name, scopes, mailboxGroups, expiresAt: expiry(body.expiresAt) };
      const { row, key } = await createApiKey(services, organization.id, caller, input);
      return { status: 201, body: presentNewKey(row, key) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/keys/:id',
    operationId: 'getKey',
    tag,
    summary: 'Get an API key',
    auth: { role: 'admin' },
    params: KeyParams,
    etag: true,
    responses: { 200: { description: 'The key, without itself.', schema: Key, example } },
    errors: ['not_found'],
    handler: async ({ services, organization, params }) => ({
      status: 200,
      body: presentKey(await getApiKey(services, organization.id, params.id)),
    }),
  }),
  route({
    method: 'PATCH',
    path: '/api/keys/:id',
    operationId: 'updateKey',
    tag,
    summary: 'Change name, scopes, groups of mailboxes or expiry',
    auth: { role: 'admin' },
    params: KeyParams,
    body: UpdateKey,
    bodyExample: { name: 'Order agent', scopes: ['mailbox:read'], expiresAt: null },
    responses: { 200: { description: 'The key as it is now.', schema: Key, example } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params, body }) {
      const changes = {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.scopes === undefined ? {} : { scopes: body.scopes }),
        ...(body.mailboxGroups === undefined ? {} : { mailboxGroups: body.mailboxGroups }),
        ...(body.expiresAt === undefined ? {} : { expiresAt: expiry(body.expiresAt) }),
      };
      return {
        status: 200,
        body: presentKey(await updateApiKey(services, organization.id, params.id, caller, changes)),
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/keys/:id',
    operationId: 'deleteKey',
    tag,
    summary: 'Revoke an API key',
    auth: { role: 'admin' },
    params: KeyParams,
    responses: { 204: { description: 'Revoked; it is not accepted any more.' } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await deleteApiKey(services, organization.id, params.id, caller);
      return { status: 204 };
    },
  }),
];
