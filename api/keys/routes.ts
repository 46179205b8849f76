import Type, { type Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { closed, dateTime, listBody, listOf, nullable, PageQuery, pageOf, timeOf } from '#api/http/schema-parts.ts';
import { MailboxGroup } from '#api/mailboxes/schema.ts';
import { createApiKey, deleteApiKey, getApiKey, listApiKeys, updateApiKey } from '#core/accounts/api-keys.ts';
import type { ApiKeyRow } from '#db/entities.ts';
import { API_SCOPES } from '#domain/access/api-scopes.ts';
import { idPattern } from '#domain/ids.ts';
import { GROUPS_PER_KEY_MAX } from '#domain/organizations/mailboxes.ts';

const KEY_NAME_MAX = 100;

const KeyId = Type.String({ pattern: idPattern('apiKey') });
const Name = Type.String({ minLength: 1, maxLength: KEY_NAME_MAX });
const Scopes = Type.Array(Type.Enum(API_SCOPES), { minItems: 1, uniqueItems: true });
const MailboxGroups = nullable(
  Type.Array(MailboxGroup, {
    minItems: 1,
    maxItems: GROUPS_PER_KEY_MAX,
    uniqueItems: true,
    description:
      'The key has access only to the mailboxes in these groups and to what belongs to one of them. Routes about the whole organization, domains, lists and webhooks refuse it. Null: every mailbox.',
  }),
);
const ExpiresAt = nullable(dateTime('In the future; null: never.'));

const KeyParams = closed({ id: KeyId });
export const CreateKey = closed(
  { name: Name, scopes: Scopes, mailboxGroups: Type.Optional(MailboxGroups), expiresAt: Type.Optional(ExpiresAt) },
  { title: 'NewApiKey' },
);
const UpdateKey = closed(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    mailboxGroups: Type.Optional(MailboxGroups),
    expiresAt: Type.Optional(ExpiresAt),
  },
  { title: 'ApiKeyChanges', minProperties: 1 },
);

const keyFields = {
  id: KeyId,
  name: Type.String(),
  scopes: Type.Array(Type.Enum(API_SCOPES)),
  mailboxGroups: MailboxGroups,
  keyHint: Type.String({ description: 'First characters of the key.' }),
  expiresAt: nullable(dateTime()),
  lastUsedAt: nullable(dateTime('Written at most once a minute.')),
  createdBy: nullable(Type.String({ description: 'User id; null for the key of the first start.' })),
  createdAt: dateTime(),
  updatedAt: dateTime(),
};
export const Key = closed(keyFields, { title: 'ApiKey' });
const KeyList = listOf(Key, 'ApiKeyList');
const KeyWithSecret = closed(
  { ...keyFields, key: nullable(Type.String({ description: 'The key itself. Shown in this answer only.' })) },
  { title: 'ApiKeyWithSecret' },
);

const presentKey = (row: ApiKeyRow): Static<typeof Key> => ({
  id: row.id,
  name: row.name,
  scopes: [...row.scopes],
  mailboxGroups: row.mailboxGroups ? [...row.mailboxGroups] : null,
  keyHint: row.keyHint,
  expiresAt: timeOf(row.expiresAt),
  lastUsedAt: timeOf(row.lastUsedAt),
  createdBy: row.createdBy ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

/** With the key itself: at creation only. */
const presentNewKey = (row: ApiKeyRow, key: string): Static<typeof KeyWithSecret> => ({
  ...presentKey(row),
  key,
});

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
