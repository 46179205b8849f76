import { reachOf } from '#api/http/principal.ts';
import { type Route, route } from '#api/http/route.ts';
import { listBody, pageOf } from '#api/http/schema-parts.ts';
import { requireDecider } from '#core/organizations/may-decide.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import { denySeveral } from '#sending/consent/decide-consent.ts';
import { decideSeveral } from '#sending/consent/decide-several.ts';
import { findConsent, listConsents, summarizeConsents } from '#sending/consent/find-consents.ts';
import { signalDecided } from '#sending/submit/start-outbound.ts';
import { APPROVING, answerApproved, answerDenied, answerTakenBack, DENYING, RETURNING, TAKING_BACK } from './decide.ts';
import {
  Consent,
  ConsentList,
  ConsentPath,
  ConsentSummary,
  ConsentSummaryQuery,
  ConsentsQuery,
  consentMessageExample,
  DecidedSeveral,
  DecideSeveral,
  DeniedSeveral,
  DenySeveral,
  decidedExample as decided,
  filterOf,
  pendingExample as pending,
  presentConsent,
  presentSeveral,
  presentSummary,
  summaryExample,
} from './schema.ts';

const tag = 'Consents';

const DECIDES =
  'Needs a session of a member. An API key may decide only if the organization sets `consentByApiKey`, a mailbox token never. Where a rule says who decides, only those members may, and where it asks for two persons the first approval leaves the request `pending` (`firstApproval`). A second decision is a conflict.';

/** @throws {CatalogueError} not_found; forbidden as `requireDecider` */
async function requireDecision({ db }: Services, organizationId: string, consentId: string, caller: Caller) {
  if ((await findConsent(db, organizationId, consentId)) === undefined) throw new CatalogueError('not_found');
  await requireDecider(db, organizationId, caller);
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
    ...APPROVING,
    bodyExample: { scope: 'address' },
    responses: { 200: { description: 'Approved.', schema: Consent, example: decided('approved', 'address', null) } },
    errors: ['not_found', 'conflict', 'recipient_blocked', 'content_refused', 'quota_exceeded'],
    async handler(request) {
      const { services, organization, principal, caller, params, body } = request;
      await requireDecision(services, organization.id, params.id, caller);
      // The other scopes allow the recipient for every mailbox.
      if (reachOf(principal) !== null && body.scope !== 'message')
        throw new CatalogueError(
          'insufficient_scope',
          'A key limited to groups of mailboxes approves single messages.',
        );
      return answerApproved(request, params.id, body);
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
    ...DENYING,
    errors: ['not_found', 'conflict'],
    async handler(request) {
      const { services, organization, caller, params, body } = request;
      await requireDecision(services, organization.id, params.id, caller);
      return answerDenied(request, params.id, body);
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
    ...RETURNING,
    errors: ['not_found', 'conflict'],
    async handler(request) {
      const { services, organization, caller, params, body } = request;
      await requireDecision(services, organization.id, params.id, caller);
      return answerDenied(request, params.id, { reason: body.comment, sha256: body.sha256, returned: true });
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
    path: '/api/consents/decide',
    operationId: 'decideConsents',
    withoutCall: { cli: 'The page shows each message whole; a command decides about one message that was read.' },
    tag,
    summary: 'Decide about several messages that were shown together',
    description: `Each is decided by itself: one that was decided, has expired or has changed since it was shown is left out with the reason, and the others are decided. ${DECIDES}`,
    auth: { scope: 'mailbox:write' },
    body: DecideSeveral,
    bodyExample: { decision: 'approve', shown: [{ consentId: pending.id, sha256: consentMessageExample.sha256 }] },
    responses: {
      200: {
        description: 'Which were decided.',
        schema: DecidedSeveral,
        example: { decided: [decided('approved', 'message', null)], leftOut: [] },
      },
    },
    async handler({ services, temporal, organization, caller, body }) {
      await requireDecider(services.db, organization.id, caller);
      const { decision, shown, reason = null } = body;
      const done = await decideSeveral(services, organization.id, decision, shown, reason, caller);
      await services.db.afterCommit(() => signalDecided(services, temporal, done.messageIds));
      return { status: 200, body: presentSeveral(done) };
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
    ...TAKING_BACK,
    errors: ['not_found', 'conflict'],
    async handler(request) {
      const { services, organization, caller, params } = request;
      await requireDecision(services, organization.id, params.id, caller);
      return answerTakenBack(request, params.id);
    },
  }),
];
