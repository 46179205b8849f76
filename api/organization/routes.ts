import { changePlan } from '../../core/change-plan.ts';
import { getOrganization, updateOrganization } from '../../core/organization.ts';
import { type Route, route } from '../route.ts';
import { presentOrganization } from './present.ts';
import { ChangePlan, Organization, UpdateOrganization } from './schema.ts';

const tag = 'Organization';

const example = {
  id: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Example',
  slug: 'example',
  plan: 'team',
  settings: { outboundConsent: 'off', consentExpiresInDays: 7, consentByApiKey: false },
  limits: { mailboxes: 50, webhookEndpoints: 10, quotaBytesPerMailbox: 5_368_709_120, apiRequestsPerMinute: 1_200 },
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
];
