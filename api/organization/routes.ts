import type { UserPrincipal } from '#api/http/principal.ts';
import { type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { listBody, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { invitationWithTokenExample, presentNewInvitation } from '#api/members/schema.ts';
import { createOrganization, listOrganizations } from '#core/accounts/create-organization.ts';
import { changePlan, getOrganization, updateOrganization } from '#core/accounts/organization.ts';
import { resumeOrganization, suspendOrganization } from '#core/accounts/suspension.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import { stopDeliveries } from '#core/webhooks/endpoints/stop-deliveries.ts';
import type { SecondFactorPolicy } from '#domain/access/second-factor.ts';
import { CatalogueError } from '#domain/errors.ts';
import { organizationSending } from '#sending/limits/sending-limits.ts';
import { signalDecided } from '#sending/submit/start-outbound.ts';
import {
  ChangePlan,
  CreateOrganization,
  Organization,
  OrganizationList,
  OrganizationSending,
  OrganizationWithInvitation,
  presentOrganization,
  SuspendOrganization,
  UpdateOrganization,
} from './schema.ts';

const tag = 'Organization';

const example = {
  id: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Example',
  slug: 'example',
  plan: 'team',
  settings: {
    outboundConsent: 'first_contact',
    consentExpiresInDays: 7,
    repliesNeedApproval: false,
    carriedMail: 'hold',
    askAfterReadingMinutes: 10,
    undoSeconds: 10,
    aliasesByToken: 10,
    consentByApiKey: false,
    secondFactor: 'approvers',
    screening: 'suspicious',
    retention: { allMailDays: null, trashDays: 30, spamDays: 30 },
    sendingStopped: false,
    dailyMessages: 5_000,
    dailyNewRecipients: null,
    newMailboxSendingMode: 'normal',
    newMailboxDailyMessages: 200,
    newMailboxDailyNewRecipients: 20,
  },
  limits: {
    mailboxes: 50,
    webhookEndpoints: 10,
    domains: 10,
    quotaBytesPerMailbox: 5_368_709_120,
    aliasesPerMailbox: 100,
    apiRequestsPerMinute: 1_200,
  },
  defaultDomain: 'agents.example.com',
  suspension: null,
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:00.000Z',
};

const sendingExample = {
  stopped: false,
  budgets: { messagesPerDay: 5_000, newRecipientsPerDay: null },
  today: { sent: 431, newRecipients: 17, received: 902, held: 3 },
  mailboxesStopped: 1,
  messagesStopped: 0,
};

/**
 * A person who requires a second factor of others has one, and can still change it back.
 *
 * @throws {CatalogueError} conflict
 */
function requireOwnFactor({ secondFactorAt }: UserPrincipal, policy: SecondFactorPolicy | undefined): void {
  if (policy === undefined || policy === 'off' || secondFactorAt !== null) return;
  throw new CatalogueError('conflict', 'Your own session has no second factor, so you would lock yourself out.', {
    fix: 'Add one on the page My account (/settings/account), or sign in with it; then turn this on.',
    details: [{ path: '/settings/secondFactor', message: 'needs a session with a second factor' }],
  });
}

export const organizationRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/organization',
    operationId: 'getOrganization',
    withoutCall: { cli: SHOWN_TO_PERSONS },
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
    withoutCall: { cli: SHOWN_TO_PERSONS },
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
    async handler({ services, temporal, organization, principal, caller, body }) {
      requireOwnFactor(principal, body.settings?.secondFactor);
      const { row, woken } = await updateOrganization(services, organization.id, caller, body);
      await signalDecided(services, temporal, woken);
      return { status: 200, body: presentOrganization(row, services.settings.MAIL_DOMAIN) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/organization/sending',
    operationId: 'getOrganizationSending',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Brakes of sending, and what was sent today',
    auth: { scope: 'org:read' },
    responses: {
      200: { description: 'Of all mailboxes together.', schema: OrganizationSending, example: sendingExample },
    },
    handler: async ({ services, organization }) => ({
      status: 200,
      body: await organizationSending(services, organization.id),
    }),
  }),
  route({
    method: 'PUT',
    path: '/api/organization/plan',
    operationId: 'changePlan',
    tag,
    summary: 'Move the organization to another plan',
    description:
      'For the operator of the instance; a billing system calls it. Takes effect at once. On a plan without webhooks waiting deliveries are stopped and endpoints are kept; after an upgrade they receive new events. If the instance has several organizations, x-organization-id says which.',
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
    method: 'PUT',
    path: '/api/organization/suspension',
    operationId: 'suspendOrganization',
    tag,
    summary: 'Suspend the organization, or resume it',
    description:
      'For the operator of the instance. While it is suspended, its sessions, keys, tokens and links are refused on every protocol and open connections end; mail to it is answered as `receive` says; outgoing mail, requests for a decision and their expiry wait; webhook deliveries end with the reason `organization_suspended`. Nothing is deleted. Resuming sends what waits, and delivers those webhooks. The request is answered when no message is being transmitted any more, after ten seconds at most. If the instance has several organizations, x-organization-id says which.',
    auth: 'operator',
    body: SuspendOrganization,
    bodyExample: { suspended: true, receive: 'defer', reason: 'Unpaid since September.' },
    responses: {
      200: {
        description: 'The organization as it is now.',
        schema: Organization,
        example: {
          ...example,
          suspension: { since: '2026-11-21T09:15:00.000Z', receive: 'defer', reason: 'Unpaid since September.' },
        },
      },
    },
    async handler({ services, temporal, organization: { id: organizationId }, caller, body }) {
      const { suspended, receive = 'defer', reason = null } = body;
      if (suspended) {
        await suspendOrganization(services, organizationId, caller, { receive, reason });
        stopDeliveries(services, temporal, { organizationId }, 'organization_suspended');
      } else {
        const { woken } = await resumeOrganization(services, organizationId, caller);
        await signalDecided(services, temporal, woken);
      }
      const row = await getOrganization(services, organizationId);
      return { status: 200, body: presentOrganization(row, services.settings.MAIL_DOMAIN) };
    },
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
    description:
      'For the operator of the instance. The first owner is invited by mail; if no mail can be sent to the address, the answer contains the link.',
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
    async handler({ services, temporal, caller, body, publicUrl }) {
      const input = { ...body, plan: body.plan ?? 'free' };
      const created = await createOrganization(services, caller, publicUrl, input);
      await sendNotices(services, temporal, created.invitation.notices);
      return {
        status: 201,
        body: {
          ...presentOrganization(created.row, services.settings.MAIL_DOMAIN),
          invitation: presentNewInvitation(created.invitation, publicUrl),
        },
      };
    },
  }),
];
