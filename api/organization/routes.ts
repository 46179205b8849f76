import { changePlan } from '../../core/change-plan.ts';
import { createOrganization, listOrganizations } from '../../core/create-organization.ts';
import { getOrganization, updateOrganization } from '../../core/organization.ts';
import { invitationWithTokenExample } from '../members/examples.ts';
import { presentNewInvitation } from '../members/present.ts';
import { listBody, PageQuery, pageOf } from '../pagination.ts';
import { type Route, route } from '../route.ts';
import { presentOrganization } from './present.ts';
import {
  ChangePlan,
  CreateOrganization,
  Organization,
  OrganizationList,
  OrganizationWithInvitation,
  UpdateOrganization,
} from './schema.ts';

const tag = 'Organization';

const example = {
  id: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Example',
  slug: 'example',
  plan: 'team',
  settings: { outboundConsent: 'first_contact', consentExpiresInDays: 7, consentByApiKey: false },
  limits: {
    mailboxes: 50,
    webhookEndpoints: 10,
    domains: 10,
    quotaBytesPerMailbox: 5_368_709_120,
    apiRequestsPerMinute: 1_200,
  },
  defaultDomain: 'agents.example.com',
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:00.000Z',
};

export const organizationRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/organization',
    operationId: 'getOrganization',
    tag,
    summary: 'The active organization',
    auth: { scope: 'org:read' },
    etag: true,
    responses: { 200: { description: 'The organization.', schema: Organization, example } },
    handler: async ({ services, organization }) => ({
      status: 200,
      body: presentOrganization(await getOrganization(services, organization.id), services.settings.MAIL_DOMAIN),
    }),
  }),
  route({
    method: 'PATCH',
    path: '/api/organization',
    operationId: 'updateOrganization',
    tag,
    summary: 'Change name, slug or settings',
    auth: { role: 'admin' },
    body: UpdateOrganization,
    bodyExample: {
      name: 'Example',
      slug: 'example',
      settings: { outboundConsent: 'first_contact', consentExpiresInDays: 3, consentByApiKey: false },
    },
    responses: { 200: { description: 'The organization as it is now.', schema: Organization, example } },
    errors: ['conflict'],
    handler: async ({ services, organization, caller, body }) => ({
      status: 200,
      body: presentOrganization(
        await updateOrganization(services, organization.id, caller, body),
        services.settings.MAIL_DOMAIN,
      ),
    }),
  }),
  route({
    method: 'PUT',
    path: '/api/organization/plan',
    operationId: 'changePlan',
    tag,
    summary: 'Move the organization to another plan',
    description:
      'For the operator of the instance: the place a billing system calls. Takes effect at once. On a plan without webhooks waiting deliveries are stopped and endpoints kept; after an upgrade they hear of new events. With several organizations on the instance, x-organization-id says which.',
    auth: 'operator',
    body: ChangePlan,
    bodyExample: { plan: 'business' },
    responses: { 200: { description: 'The organization on its new plan.', schema: Organization, example } },
    handler: async ({ services, temporal, organization, caller, body }) => ({
      status: 200,
      body: presentOrganization(
        await changePlan(services, temporal, organization.id, caller, body.plan),
        services.settings.MAIL_DOMAIN,
      ),
    }),
  }),
  route({
    method: 'GET',
    path: '/api/organizations',
    operationId: 'listOrganizations',
    tag,
    summary: 'List all organizations of the instance',
    description: 'For the operator of the instance.',
    auth: 'instance',
    query: PageQuery,
    responses: {
      200: {
        description: 'A page of organizations, oldest first.',
        schema: OrganizationList,
        example: { data: [example], nextCursor: null },
      },
    },
    async handler({ services, query }) {
      const page = pageOf('organization', query);
      const rows = await listOrganizations(services, page);
      return {
        status: 200,
        body: listBody(rows, page, (row) => presentOrganization(row, services.settings.MAIL_DOMAIN)),
      };
    },
  }),
  route({
    method: 'POST',
    path: '/api/organizations',
    operationId: 'createOrganization',
    tag,
    summary: 'Create an organization',
    description: 'For the operator of the instance. Answers the invitation of its first owner.',
    auth: 'instance',
    body: CreateOrganization,
    bodyExample: { name: 'Example', slug: 'example', plan: 'team', ownerEmail: 'ada@example.com' },
    secretFields: ['invitation'],
    responses: {
      201: {
        description: 'The organization and the invitation of its owner.',
        schema: OrganizationWithInvitation,
        example: { ...example, invitation: { ...invitationWithTokenExample, role: 'owner' } },
      },
    },
    errors: ['conflict'],
    async handler({ services, caller, body, publicUrl }) {
      const created = await createOrganization(services, caller, { ...body, plan: body.plan ?? 'free' });
      return {
        status: 201,
        body: {
          ...presentOrganization(created.row, services.settings.MAIL_DOMAIN),
          invitation: presentNewInvitation(created.invitation, created.token, publicUrl),
        },
      };
    },
  }),
];
