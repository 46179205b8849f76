/** State of the installation, its tenants with figures, and what operators did. */
import Type from 'typebox';
import { listOperatorUses } from '#administration/operator-uses.ts';
import { readOverview } from '#administration/overview.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, dateTime, listBody, listOf, pageOf, pageQuery } from '#api/http/schema-parts.ts';
import { findTenant, listTenants } from '#core/organizations/tenant-figures.ts';
import { diagnose } from '#core/process/diagnosis/diagnose.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  OperatorFinding,
  OperatorOverview,
  OperatorUseEntry,
  presentFinding,
  presentOverview,
  presentTenant,
  presentUse,
  Tenant,
} from './schema.ts';

const tag = 'Operators';
const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 7;
const DAYS_MAX = 30;

const days = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: DAYS_MAX,
    description: `Days that are counted for mail, deliveries and rates (default ${DAYS_DEFAULT}).`,
  }),
);

const sinceOf = (nowMs: number, counted: number = DAYS_DEFAULT): number => nowMs - counted * DAY_MS;

const overviewExample = {
  version: '0.1.0',
  queues: [{ queue: 'webhooks', waiting: 12, oldestSeconds: 31.5, overdue: 0, overdueSeconds: null }],
  objectives: [{ name: 'firstAttempt', target: 0.99, good: 18_211, total: 18_220 }],
  disk: { freeBytes: 81_604_378_624, totalBytes: 107_374_182_400 },
  databaseBytes: 9_663_676_416,
  organizations: { total: 42, suspended: 1 },
  erasures: 0,
  certificates: [{ names: 'mail.example.com', expiresAt: '2027-02-01T00:00:00.000Z' }],
  lastBackupAt: '2026-11-21T03:00:00.000Z',
};

const findingExample = {
  check: 'backlog',
  level: 'warning',
  what: '14 webhooks are overdue, the oldest since 12 min.',
  todo: 'Look whether workers run.',
};

const tenantExample = {
  id: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Example',
  slug: 'example',
  plan: 'team',
  createdAt: '2026-11-21T09:15:00.000Z',
  suspendedAt: null,
  suspendedReceive: null,
  suspendedReason: null,
  members: 3,
  mailboxes: 12,
  messages: 5_120,
  storageBytes: 73_400_320,
  received: 902,
  sent: 431,
  handedOver: 388,
  bounced: 2,
  complained: 0,
  deliveries: 1_204,
  deliveriesExhausted: 1,
  deliveriesWaiting: 0,
  outgoingWaiting: 3,
};

const useExample = {
  id: 'opu_01k8e8f2c0e4x9w2v7a3r5t6y8',
  at: '2026-11-21T09:15:00.000Z',
  operation: 'suspendOrganization',
  via: 'http',
  targetId: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8',
  status: 200,
  ipAddress: '203.0.113.7',
  requestId: 'req_01k8e8f2c0e4x9w2v7a3r5t6y8',
};

export const operatorStateRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/operator/overview',
    operationId: 'getOperatorOverview',
    tag,
    summary: 'What waits, objectives, disk, certificates, the last backup',
    description: 'For the operator of the instance.',
    auth: 'instance',
    responses: { 200: { description: 'As it is now.', schema: OperatorOverview, example: overviewExample } },
    handler: async ({ services }) => ({ status: 200, body: presentOverview(await readOverview(services)) }),
  }),
  route({
    method: 'GET',
    path: '/api/operator/findings',
    operationId: 'listOperatorFindings',
    tag,
    summary: 'What is wrong with the installation, and what to do',
    description:
      'For the operator of the instance. What `agent-mailbox-admin doctor` finds, as the process that answers sees it. It asks DNS and the listeners, which may take some seconds.',
    auth: 'instance',
    responses: {
      200: {
        description: 'All findings, the right ones included.',
        schema: closed({ findings: Type.Array(OperatorFinding) }, { title: 'OperatorFindings' }),
        example: { findings: [findingExample] },
      },
    },
    handler: async ({ services }) => ({
      status: 200,
      body: { findings: (await diagnose(services)).map(presentFinding) },
    }),
  }),
  route({
    method: 'GET',
    path: '/api/operator/organizations',
    operationId: 'listTenants',
    tag,
    summary: 'Organizations with size, mail, deliveries, rates and what waits',
    description: 'For the operator of the instance.',
    auth: 'instance',
    query: closed({ ...pageQuery, days }),
    responses: {
      200: {
        description: 'A page of organizations, oldest first.',
        schema: listOf(Tenant, 'TenantList'),
        example: { data: [tenantExample], nextCursor: null },
      },
    },
    async handler({ services, query }) {
      const page = pageOf('organization', query);
      const rows = await listTenants(services.db, page, sinceOf(services.now(), query.days));
      return { status: 200, body: listBody(rows, page, presentTenant) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/operator/organizations/:organization',
    operationId: 'getTenant',
    tag,
    summary: 'One organization with its figures',
    description:
      'For the operator of the instance. Its plan and suspension are changed by PUT /api/organization/plan and PUT /api/organization/suspension with x-organization-id; it is deleted by POST /api/operator/erasures.',
    auth: 'instance',
    params: closed({ organization: Type.String({ minLength: 1, maxLength: 64, description: 'Id or slug.' }) }),
    query: closed({ days }),
    responses: { 200: { description: 'The organization.', schema: Tenant, example: tenantExample } },
    async handler({ services, params, query }) {
      const tenant = await findTenant(services.db, params.organization, sinceOf(services.now(), query.days));
      if (tenant === undefined) throw new CatalogueError('not_found');
      return { status: 200, body: presentTenant(tenant) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/operator/uses',
    operationId: 'listOperatorUses',
    tag,
    summary: 'The audit log of the installation; newest first',
    description:
      'For the operator of the instance. Each request with the operator key, also on other routes, and the backups that were made. Ids only.',
    auth: 'instance',
    query: closed({
      ...pageQuery,
      operation: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      since: Type.Optional(dateTime('From this time on.')),
      until: Type.Optional(dateTime('Before this time.')),
    }),
    responses: {
      200: {
        description: 'A page of entries.',
        schema: listOf(OperatorUseEntry, 'OperatorUseList'),
        example: { data: [useExample], nextCursor: null },
      },
    },
    async handler({ services, query }) {
      const page = pageOf('operatorUse', query);
      const filter = {
        operation: query.operation ?? null,
        since: query.since === undefined ? null : new Date(query.since),
        until: query.until === undefined ? null : new Date(query.until),
      };
      return { status: 200, body: listBody(await listOperatorUses(services.db, filter, page), page, presentUse) };
    },
  }),
];
