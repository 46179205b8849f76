import { type Route, route } from '#api/http/route.ts';
import { listBody, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { publishedDkimKeys, publishedDkimKeysOf } from '#core/mailboxes/dkim-keys.ts';
import {
  createDomain,
  defaultDomain,
  deleteDomain,
  getDomain,
  listDomains,
  setCatchAll,
  verifyDomain,
} from '#core/mailboxes/domains.ts';
import {
  CreateDomain,
  DefaultDomain,
  Domain,
  DomainList,
  DomainParams,
  presentDefaultDomain,
  presentDomain,
  UpdateDomain,
} from './schema.ts';

const tag = 'Domains';

const example = {
  id: 'dom_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'example.com',
  status: 'pending',
  records: [
    {
      purpose: 'mx',
      type: 'MX',
      name: 'example.com',
      value: '10 mail.example.net',
      required: true,
      status: 'missing',
      found: [],
    },
  ],
  zoneFile: 'example.com. 3600 IN MX 10 mail.example.net.\n',
  catchAllMailboxId: null,
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:00.000Z',
  verifiedAt: null,
  checkedAt: null,
};

const defaultExample = { name: example.name, records: example.records, zoneFile: example.zoneFile };

export const domainRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/domains',
    operationId: 'listDomains',
    tag,
    summary: 'List own domains, newest first',
    description: 'Without the domain of the instance: see `/api/domains/default`.',
    auth: { scope: 'mailbox:read' },
    query: PageQuery,
    responses: {
      200: { description: 'A page of domains.', schema: DomainList, example: { data: [example], nextCursor: null } },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('domain', query);
      const rows = await listDomains(services, organization.id, page);
      const ids = rows.map(({ id }) => id);
      const otherKeys = await publishedDkimKeysOf(services.db, ids);
      return {
        status: 200,
        body: listBody(rows, page, (row) => presentDomain(row, services.settings, otherKeys.get(row.id))),
      };
    },
  }),
  route({
    method: 'POST',
    path: '/api/domains',
    operationId: 'createDomain',
    tag,
    summary: 'Add an own domain',
    description:
      'Answers the DNS records to set. You can create mailboxes at once; they are `pending` until the domain is verified. If members have addresses in the domain, only a person can add it.',
    auth: { scope: 'mailbox:create' },
    body: CreateDomain,
    bodyExample: { name: 'example.com' },
    responses: { 201: { description: 'The domain with its records.', schema: Domain, example } },
    errors: ['plan_limit_reached', 'conflict'],
    handler: async ({ services, organization, caller, body }) => ({
      status: 201,
      body: presentDomain(await createDomain(services, organization.id, caller, body), services.settings),
    }),
  }),
  route({
    method: 'GET',
    path: '/api/domains/default',
    operationId: 'getDefaultDomain',
    tag,
    summary: 'Get the records of the domain of the instance',
    description:
      'Queries DNS. For the operator of the instance: without these records it receives no mail, and other hosts do not trust its mail.',
    auth: { scope: 'mailbox:read' },
    responses: {
      200: {
        description: 'The domain with the current result of DNS.',
        schema: DefaultDomain,
        example: defaultExample,
      },
    },
    handler: async ({ services }) => ({ status: 200, body: presentDefaultDomain(await defaultDomain(services)) }),
  }),
  route({
    method: 'GET',
    path: '/api/domains/:id',
    operationId: 'getDomain',
    tag,
    summary: 'Get a domain with its records',
    auth: { scope: 'mailbox:read' },
    params: DomainParams,
    etag: true,
    responses: { 200: { description: 'The domain.', schema: Domain, example } },
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      const row = await getDomain(services, organization.id, params.id);
      return { status: 200, body: presentDomain(row, services.settings, await publishedDkimKeys(services.db, row.id)) };
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/domains/:id',
    operationId: 'updateDomain',
    tag,
    summary: 'Set the catch-all of a domain',
    description:
      'A verified domain can have one mailbox that gets mail to its unknown addresses. Addresses of deleted mailboxes and of dropped, disabled or expired aliases stay refused. The domain of the instance has none.',
    auth: { scope: 'mailbox:write' },
    params: DomainParams,
    body: UpdateDomain,
    bodyExample: { catchAllMailboxId: null },
    responses: { 200: { description: 'The domain.', schema: Domain, example } },
    errors: ['not_found', 'conflict'],
    async handler({ services, organization, caller, params, body }) {
      const row = await setCatchAll(services, organization.id, params.id, body.catchAllMailboxId, caller);
      return { status: 200, body: presentDomain(row, services.settings, await publishedDkimKeys(services.db, row.id)) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/domains/:id',
    operationId: 'deleteDomain',
    tag,
    summary: 'Delete a domain',
    description: 'Refused while mailboxes use it. If people have addresses in the domain, only a person can delete it.',
    auth: { scope: 'mailbox:delete' },
    params: DomainParams,
    responses: { 204: { description: 'Deleted.' } },
    errors: ['not_found', 'conflict'],
    async handler({ services, organization, caller, params }) {
      await deleteDomain(services, organization.id, params.id, caller);
      return { status: 204 };
    },
  }),
  route({
    method: 'POST',
    path: '/api/domains/:id/verify',
    operationId: 'verifyDomain',
    tag,
    summary: 'Look at DNS now',
    description:
      'Answers every record with its status. With all required records found the domain is verified and its pending mailboxes become active.',
    auth: { scope: 'mailbox:write' },
    params: DomainParams,
    responses: { 200: { description: 'The domain with the current result of DNS.', schema: Domain, example } },
    errors: ['not_found', 'conflict'],
    async handler({ services, organization, caller, params }) {
      const row = await verifyDomain(services, organization.id, params.id, caller);
      return { status: 200, body: presentDomain(row, services.settings, await publishedDkimKeys(services.db, row.id)) };
    },
  }),
];
