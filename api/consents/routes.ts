import { reachOf } from '#api/http/principal.ts';
import { type Route, route } from '#api/http/route.ts';
import { listBody, pageOf } from '#api/http/schema-parts.ts';
import { SEND_BODY_LIMIT_BYTES } from '#api/messages/sending/send-schema.ts';
import { requireDecider } from '#core/organizations/may-decide.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import { approveHeld } from '#sending/consent/approve-held.ts';
import { type Decided, denyConsent, denySeveral } from '#sending/consent/decide-consent.ts';
import { findConsent, listConsents, summarizeConsents } from '#sending/consent/find-consents.ts';
import { takeBackApproval } from '#sending/consent/take-back.ts';
import { continueApproval, signalDecided } from '#sending/submit/start-outbound.ts';
import {
  ApproveConsent,
  Consent,
  ConsentList,
  ConsentPath,
  ConsentSummary,
  ConsentSummaryQuery,
  ConsentsQuery,
  DeniedSeveral,
  DenyConsent,
  DenySeveral,
  decidedExample as decided,
  filterOf,
  pendingExample as pending,
  presentConsent,
  presentSummary,
  ReturnConsent,
  summaryExample,
} from './schema.ts';

const tag = 'Consents';

const DECIDES =
  'Needs a session of a member. An API key may decide only if the organization sets `consentByApiKey`, a mailbox token never. A second decision is a conflict.';

/** The answer to a decision; the workflows are signalled, and further requests it covers decided, after the commit. */
export async function answerDecided(
  services: Services,
  temporal: TemporalClient,
  { consent, messageIds, more }: Decided,
  { organizationId, caller }: { readonly organizationId: string; readonly caller: Caller },
) {
  await services.db.afterCommit(async () => {
    await signalDecided(services, temporal, messageIds);
    if (more) await continueApproval(services, temporal, { id: consent.id, organizationId }, caller);
  });
  return { status: 200, body: presentConsent(consent) } as const;
}

export const consentRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/consents',
    operationId: 'listConsents',
    tag,
    summary: 'List requests for consent',
    auth: { scope: 'mailbox:read' },
    limitedKeys: true,
    query: ConsentsQuery,
    responses: {
      200: { description: 'A page of requests.', schema: ConsentList, example: { data: [pending], nextCursor: null } },
    },
    async handler({ services, organization, principal, query }) {
      const page = pageOf('consent', query);
      const { status, order } = query;
      const filter = { ...filterOf(query), status, reach: reachOf(principal) };
      const rows = await listConsents(services.db, organization.id, filter, { ...page, order });
      return { status: 200, body: listBody(rows, page, presentConsent) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/consents/summary',
    operationId: 'summarizeConsents',
    tag,
    summary: 'Count what waits for a decision',
    description: 'All of it, and by mailbox, recipient and reason; with the filters of the list.',
    auth: { scope: 'mailbox:read' },
    limitedKeys: true,
    query: ConsentSummaryQuery,
    responses: { 200: { description: 'How many.', schema: ConsentSummary, example: summaryExample } },
    async handler({ services, organization, principal, query }) {
      const filter = { ...filterOf(query), reach: reachOf(principal) };
      return { status: 200, body: presentSummary(await summarizeConsents(services.db, organization.id, filter)) };
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
    summary: 'Approve a held message',
    description: `With \`sha256\` the approval is refused if the message is not the one that was shown. With \`edit\` the message is changed and approved in one step. It is checked like a submission, and the hash is that of the changed message. ${DECIDES}`,
    auth: { scope: 'mailbox:write' },
    params: ConsentPath,
    bodyLimitBytes: SEND_BODY_LIMIT_BYTES,
    body: ApproveConsent,
    bodyExample: { scope: 'address' },
    responses: { 200: { description: 'Approved.', schema: Consent, example: decided('approved', 'address', null) } },
    errors: ['not_found', 'conflict', 'recipient_blocked', 'content_refused', 'quota_exceeded'],
    async handler({ services, temporal, organization, principal, caller, params, body }) {
      if ((await findConsent(services.db, organization.id, params.id)) === undefined)
        throw new CatalogueError('not_found');
      await requireDecider(services.db, organization.id, caller);
      // The other scopes allow the recipient for every mailbox.
      if (reachOf(principal) !== null && body.scope !== 'message')
        throw new CatalogueError(
          'insufficient_scope',
          'A key limited to groups of mailboxes approves single messages.',
        );
      const done = await approveHeld(services, organization.id, params.id, body, caller);
      return answerDecided(services, temporal, done, { organizationId: organization.id, caller });
    },
  }),
  route({
    method: 'POST',
    path: '/api/consents/:id/deny',
    operationId: 'denyConsent',
    tag,
    summary: 'Deny a held message',
    description: `With \`sha256\` the denial is refused if the message is not the one that was shown. ${DECIDES}`,
    auth: { scope: 'mailbox:write' },
    params: ConsentPath,
    body: DenyConsent,
    bodyExample: { reason: 'Not a customer of ours.' },
    responses: {
      200: { description: 'Denied.', schema: Consent, example: decided('denied', null, 'Not a customer of ours.') },
    },
    errors: ['not_found', 'conflict'],
    async handler({ services, temporal, organization, caller, params, body }) {
      if ((await findConsent(services.db, organization.id, params.id)) === undefined)
        throw new CatalogueError('not_found');
      await requireDecider(services.db, organization.id, caller);
      const { reason = null, sha256 } = body;
      const done = await denyConsent(services, organization.id, params.id, reason, caller, { sha256 });
      return answerDecided(services, temporal, done, { organizationId: organization.id, caller });
    },
  }),
  route({
    method: 'POST',
    path: '/api/consents/:id/return',
    operationId: 'returnConsent',
    tag,
    summary: 'Send a held message back with a comment',
    description: `It is not sent: its status is \`denied\`, and the agent gets the outcome \`returned\` with the comment. The agent may submit a changed message with \`resubmits\`, which is held again and shown with its earlier versions. ${DECIDES}`,
    auth: { scope: 'mailbox:write' },
    params: ConsentPath,
    body: ReturnConsent,
    bodyExample: { comment: 'Please leave out the price.' },
    responses: {
      200: {
        description: 'Sent back.',
        schema: Consent,
        example: decided('denied', null, 'Please leave out the price.', true),
      },
    },
    errors: ['not_found', 'conflict'],
    async handler({ services, temporal, organization, caller, params, body }) {
      if ((await findConsent(services.db, organization.id, params.id)) === undefined)
        throw new CatalogueError('not_found');
      await requireDecider(services.db, organization.id, caller);
      const { comment, sha256 } = body;
      const how = { sha256, returned: true };
      const done = await denyConsent(services, organization.id, params.id, comment, caller, how);
      return answerDecided(services, temporal, done, { organizationId: organization.id, caller });
    },
  }),
  route({
    method: 'POST',
    path: '/api/consents/deny',
    operationId: 'denyConsents',
    withoutCall: { cli: 'The page does it in two steps; a command denies one message that was read.' },
    tag,
    summary: 'Deny several held messages',
    description: `In one transaction: those in the list that still wait, and no others. ${DECIDES}`,
    auth: { scope: 'mailbox:write' },
    body: DenySeveral,
    bodyExample: { consentIds: [pending.id] },
    responses: {
      200: {
        description: 'Which were denied.',
        schema: DeniedSeveral,
        example: { denied: [pending.id], leftOut: [] },
      },
    },
    async handler({ services, temporal, organization, caller, body }) {
      await requireDecider(services.db, organization.id, caller);
      const { consentIds, reason = null } = body;
      const rows = await denySeveral(services, organization.id, consentIds, reason, caller);
      await services.db.afterCommit(() =>
        signalDecided(
          services,
          temporal,
          rows.map(({ messageId }) => messageId),
        ),
      );
      const denied = rows.map(({ id }) => id);
      return { status: 200, body: { denied, leftOut: consentIds.filter((id) => !denied.includes(id)) } };
    },
  }),
  route({
    method: 'POST',
    path: '/api/consents/:id/take-back',
    operationId: 'takeBackApproval',
    tag,
    summary: 'Take an approval back',
    description: `Until \`undoUntil\` (\`settings.undoSeconds\` of the organization): the message is held again, with those that the same approval released and that still wait. What the approval remembered is forgotten. \`outbound_consent_requested\` is recorded once more. ${DECIDES}`,
    auth: { scope: 'mailbox:write' },
    params: ConsentPath,
    responses: { 200: { description: 'It waits again.', schema: Consent, example: pending } },
    errors: ['not_found', 'conflict'],
    async handler({ services, temporal, organization, caller, params }) {
      if ((await findConsent(services.db, organization.id, params.id)) === undefined)
        throw new CatalogueError('not_found');
      await requireDecider(services.db, organization.id, caller);
      const done = await takeBackApproval(services, organization.id, params.id, caller);
      return answerDecided(services, temporal, done, { organizationId: organization.id, caller });
    },
  }),
];
