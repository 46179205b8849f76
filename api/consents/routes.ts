import { findConsent, listConsents } from '../../core/consent-queries.ts';
import { approveConsent, type Decided, denyConsent } from '../../core/decide-consent.ts';
import { requireDecider } from '../../core/may-decide.ts';
import type { Services } from '../../core/services.ts';
import { signalDecided } from '../../core/start-outbound.ts';
import type { TemporalClient } from '../../core/temporal-client.ts';
import { CatalogueError } from '../../domain/errors.ts';
import { mailboxExample } from '../mailboxes/examples.ts';
import { listBody, pageOf } from '../pagination.ts';
import { refuseMailboxToken } from '../refuse-mailbox-token.ts';
import { type Route, route } from '../route.ts';
import { presentConsent } from './present.ts';
import { ApproveConsent, Consent, ConsentList, ConsentPath, ConsentsQuery, DenyConsent } from './schema.ts';

const tag = 'Consents';

const pending = {
  id: 'con_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: mailboxExample.id,
  messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  status: 'pending',
  recipients: ['ada@customer.example'],
  subject: 'Your order 4711',
  preview: 'Dear Ada, your order is on its way.',
  createdAt: '2026-11-21T09:16:02.481Z',
  expiresAt: '2026-11-28T09:16:02.481Z',
  decision: null,
};
const decided = (status: string, scope: string | null, reason: string | null) => ({
  ...pending,
  status,
  decision: {
    scope,
    reason,
    decidedAt: '2026-11-21T09:40:11.020Z',
    decidedBy: {
      type: 'user',
      id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
      name: 'Grace Hill',
      email: 'grace@acme.example',
      address: null,
    },
  },
});
const DECIDES =
  'For a person: a session of a member. An API key may only where the organization sets `consentByApiKey`, a mailbox token never. A second decision is a conflict.';

async function told(services: Services, temporal: TemporalClient, { consent, messageIds }: Decided) {
  await signalDecided(services, temporal, messageIds);
  return { status: 200, body: presentConsent(consent) } as const;
}

export const consentRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/consents',
    operationId: 'listConsents',
    tag,
    summary: 'List requests for consent, newest first',
    auth: { scope: 'mailbox:read' },
    query: ConsentsQuery,
    responses: {
      200: { description: 'A page of requests.', schema: ConsentList, example: { data: [pending], nextCursor: null } },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('consent', query);
      const { status, mailboxId } = query;
      const filter = {
        ...(status === undefined ? {} : { status }),
        ...(mailboxId === undefined ? {} : { mailboxId }),
      };
      const rows = await listConsents(services.db, organization.id, filter, page);
      return { status: 200, body: listBody(rows, page, presentConsent) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/consents/:id',
    operationId: 'getConsent',
    tag,
    summary: 'Get a request for consent',
    auth: { scope: 'mailbox:read' },
    params: ConsentPath,
    etag: true,
    responses: { 200: { description: 'The request.', schema: Consent, example: pending } },
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      const row = await findConsent(services.db, organization.id, params.id);
      if (row === undefined) throw new CatalogueError('not_found');
      return { status: 200, body: presentConsent(row) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/consents/:id/approve',
    operationId: 'approveConsent',
    tag,
    summary: 'Let a held message go',
    description: DECIDES,
    auth: { scope: 'mailbox:write' },
    params: ConsentPath,
    body: ApproveConsent,
    bodyExample: { scope: 'address' },
    responses: { 200: { description: 'Approved.', schema: Consent, example: decided('approved', 'address', null) } },
    errors: ['not_found', 'conflict'],
    async handler({ services, temporal, organization, caller, params, body, headers }) {
      refuseMailboxToken(headers);
      if ((await findConsent(services.db, organization.id, params.id)) === undefined)
        throw new CatalogueError('not_found');
      await requireDecider(services.db, organization.id, caller);
      return told(services, temporal, await approveConsent(services, organization.id, params.id, body.scope, caller));
    },
  }),
  route({
    method: 'POST',
    path: '/api/consents/:id/deny',
    operationId: 'denyConsent',
    tag,
    summary: 'Stop a held message',
    description: DECIDES,
    auth: { scope: 'mailbox:write' },
    params: ConsentPath,
    body: DenyConsent,
    bodyExample: { reason: 'Not a customer of ours.' },
    responses: {
      200: { description: 'Denied.', schema: Consent, example: decided('denied', null, 'Not a customer of ours.') },
    },
    errors: ['not_found', 'conflict'],
    async handler({ services, temporal, organization, caller, params, body, headers }) {
      refuseMailboxToken(headers);
      if ((await findConsent(services.db, organization.id, params.id)) === undefined)
        throw new CatalogueError('not_found');
      await requireDecider(services.db, organization.id, caller);
      const done = await denyConsent(services, organization.id, params.id, body.reason ?? null, caller);
      return told(services, temporal, done);
    },
  }),
];
