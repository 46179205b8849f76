/**
 * What the link of a notice opens: one held message, for one member. Reading never decides, because mail scanners open
 * links automatically; only a POST does.
 */
import Type from 'typebox';
import { usedLink } from '#api/auth/authenticate.ts';
import {
  APPROVING,
  answerApproved,
  answerDenied,
  answerTakenBack,
  DENYING,
  RETURNING,
  TAKING_BACK,
} from '#api/consents/decide.ts';
import { ConsentAttachmentPath, ConsentMessage, notKept, presentHeldMessage } from '#api/consents/message-routes.ts';

import { Consent, consentMessageExample, decidedExample, presentConsent } from '#api/consents/schema.ts';
import type { ApprovalPrincipal } from '#api/http/principal.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, dateTime } from '#api/http/schema-parts.ts';
import { attachmentDownload, rawDownload } from '#api/messages/reading/download.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type ConsentRow, findConsent } from '#sending/consent/find-consents.ts';
import { findHeldBytes, findHeldMessage } from '#sending/consent/held-message.ts';

const ApprovalAttachmentPath = closed({ aid: ConsentAttachmentPath.properties.aid });

export const Approval = closed(
  {
    member: closed({ name: Type.String(), email: Type.String() }, { title: 'ApprovingMember' }),
    organization: closed({ name: Type.String() }, { title: 'ApprovingOrganization' }),
    mayDecide: Type.Boolean({
      description:
        'False: the organization requires a second factor, so the member signs in and decides on the page of approvals.',
    }),
    linkExpiresAt: dateTime('The link works until then, if nothing ends it before.'),
    message: ConsentMessage,
  },
  { title: 'Approval' },
);

const approvalExample = {
  member: { name: 'Ada Byron', email: 'ada@example.com' },
  organization: { name: 'Example' },
  mayDecide: true,
  linkExpiresAt: '2026-11-28T09:16:02.481Z',
  message: consentMessageExample,
};

const tag = 'Approval by link';
const auth = 'approval_link';
/** Agents that use up the rate of their organization must not keep a person from deciding; each source has a limit. */
const unlimited = true;
const AGAIN =
  'Sent again by the same member, as its answer may have been lost, it answers with the decision that was made.';
const FOR =
  'For the token of the link in a notice, which is for one request and one member. It works until the request is decided or expires, seven days at most, and until the member is removed or gets another role or password.';

/**
 * The decision that the member of the link has made, where it is this one: the answer to it may have been lost.
 *
 * @throws {CatalogueError} unauthenticated, as the link is dead, when it was the other one
 */
async function madeBefore(
  request: {
    readonly services: Pick<Services, 'db'>;
    readonly organization: { readonly id: string };
    readonly principal: ApprovalPrincipal;
  },
  asked: 'approved' | 'denied' | 'returned',
): Promise<ConsentRow | undefined> {
  const { decided, consentId } = request.principal;
  if (decided === null) return undefined;
  const { services, organization } = request;
  const consent = decided === asked ? await findConsent(services.db, organization.id, consentId) : undefined;
  if (consent === undefined) throw usedLink(decided);
  return consent;
}

export const approvalRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/approval',
    operationId: 'getApproval',
    tag,
    summary: 'Get the held message that a link is about',
    description: `Decides nothing. ${FOR}`,
    auth,
    unlimited,
    errors: ['rate_limited'],
    responses: { 200: { description: 'The message, and who decides.', schema: Approval, example: approvalExample } },
    async handler({ services, organization, principal }) {
      const held = await findHeldMessage(services, organization.id, principal.consentId);
      return {
        status: 200,
        body: {
          member: { name: principal.name, email: principal.email },
          organization: { name: organization.name },
          mayDecide: !principal.missesSecondFactor,
          linkExpiresAt: principal.expiresAt.toISOString(),
          message: presentHeldMessage(held),
        },
      };
    },
  }),
  route({
    method: 'GET',
    path: '/api/approval/raw',
    operationId: 'getApprovalRaw',
    tag,
    summary: 'Download the raw message that a link is about',
    description: FOR,
    auth,
    unlimited,
    errors: ['rate_limited'],
    responses: { 200: { description: 'The message.', contentType: 'message/rfc822' } },
    async handler({ services, organization, principal }) {
      return notKept(rawDownload(services.db, await findHeldBytes(services, organization.id, principal.consentId)));
    },
  }),
  route({
    method: 'GET',
    path: '/api/approval/attachments/:aid',
    operationId: 'getApprovalAttachment',
    tag,
    summary: 'Download an attachment of the message that a link is about',
    description: FOR,
    auth,
    unlimited,
    params: ApprovalAttachmentPath,
    responses: {
      200: { description: 'The attachment, with its own media type.', contentType: 'application/octet-stream' },
    },
    errors: ['not_found', 'rate_limited'],
    async handler({ services, organization, principal, params }) {
      const held = await findHeldBytes(services, organization.id, principal.consentId);
      return notKept(await attachmentDownload(services.db, held, params.aid));
    },
  }),
  route({
    method: 'POST',
    path: '/api/approval/approve',
    operationId: 'approveByLink',
    tag,
    summary: 'Let the message of a link go',
    description: `With \`edit\` the message is changed and approved in one step. The audit log has it under the member, with \`via: approval_link\`. ${AGAIN} ${FOR}`,
    auth,
    unlimited,
    againAfterDecision: true,
    ...APPROVING,
    bodyExample: { scope: 'message' },
    responses: {
      200: { description: 'Approved.', schema: Consent, example: decidedExample('approved', 'message', null) },
    },
    errors: ['conflict', 'recipient_blocked', 'content_refused', 'quota_exceeded', 'rate_limited'],
    async handler(request) {
      const { principal, body } = request;
      const made = await madeBefore(request, 'approved');
      if (made === undefined) return answerApproved(request, principal.consentId, body);
      if (made.scope !== body.scope || (made.changes === null) !== (body.edit === undefined))
        throw usedLink('approved');
      return { status: 200, body: presentConsent(made) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/approval/deny',
    operationId: 'denyByLink',
    tag,
    summary: 'Stop the message of a link',
    description: `The audit log has it under the member, with \`via: approval_link\`. ${AGAIN} ${FOR}`,
    auth,
    unlimited,
    againAfterDecision: true,
    ...DENYING,
    errors: ['conflict', 'rate_limited'],
    async handler(request) {
      const made = await madeBefore(request, 'denied');
      if (made !== undefined) return { status: 200, body: presentConsent(made) };
      return answerDenied(request, request.principal.consentId, request.body);
    },
  }),
  route({
    method: 'POST',
    path: '/api/approval/return',
    operationId: 'returnByLink',
    tag,
    summary: 'Send the message of a link back with a comment',
    description: `The agent gets the comment and may submit a changed message. The audit log has it under the member, with \`via: approval_link\`. ${AGAIN} ${FOR}`,
    auth,
    unlimited,
    againAfterDecision: true,
    ...RETURNING,
    errors: ['conflict', 'rate_limited'],
    async handler(request) {
      const made = await madeBefore(request, 'returned');
      if (made !== undefined) return { status: 200, body: presentConsent(made) };
      const { comment, sha256 } = request.body;
      return answerDenied(request, request.principal.consentId, { reason: comment, sha256, returned: true });
    },
  }),
  route({
    method: 'POST',
    path: '/api/approval/take-back',
    operationId: 'takeBackByLink',
    tag,
    summary: 'Take back an approval that was made by the link',
    description: `As long as the message waits (\`undoUntil\`). The request and the link are open again. ${FOR}`,
    auth,
    unlimited,
    againAfterDecision: true,
    ...TAKING_BACK,
    errors: ['conflict', 'rate_limited'],
    async handler(request) {
      return answerTakenBack(request, request.principal.consentId);
    },
  }),
];
