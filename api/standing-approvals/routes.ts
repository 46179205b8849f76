/** Approvals given in advance, which end. */
import Type, { type Static } from 'typebox';
import { type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import {
  Actor,
  closed,
  dateTime,
  listBody,
  listOf,
  nullable,
  pageOf,
  pageQuery,
  timeOf,
} from '#api/http/schema-parts.ts';
import { MailboxId, mailboxExample } from '#api/mailboxes/schema.ts';
import { requireDecider } from '#core/organizations/may-decide.ts';
import { idPattern } from '#domain/ids.ts';
import {
  STANDING_APPROVAL_AHEAD_MAX_DAYS,
  STANDING_APPROVAL_MESSAGES_MAX,
  STANDING_APPROVAL_RECIPIENTS_MAX,
  STANDING_APPROVAL_STATES,
  standingApprovalState,
} from '#domain/sending/standing-approvals.ts';
import {
  createStandingApproval,
  listStandingApprovals,
  type StandingApproval as Row,
  revokeStandingApproval,
} from '#sending/consent/standing-approvals.ts';

const Id = Type.String({ pattern: idPattern('standingApproval'), description: 'Id of the standing approval.' });
const RECIPIENT_MAX_CHARACTERS = 254;
/** An address, or a domain with a dot; ASCII, as recipients are compared. */
const RECIPIENT = '^(?:[\\x21-\\x3f\\x41-\\x7e]+@)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?\\.[A-Za-z0-9-]+$';

const StandingApproval = closed(
  {
    id: Id,
    mailboxId: MailboxId,
    recipients: Type.Array(Type.String(), { description: 'Addresses and domains, in lower case.' }),
    endsAt: dateTime(),
    messagesMax: Type.Integer(),
    messagesUsed: Type.Integer({ description: 'Messages that were submitted by it.' }),
    state: Type.Enum([...STANDING_APPROVAL_STATES], {
      description: '`used_up`: as many messages as it allows were submitted.',
    }),
    createdBy: Actor,
    createdAt: dateTime(),
    revokedBy: nullable(Actor),
    revokedAt: nullable(dateTime()),
  },
  { title: 'StandingApproval' },
);
const StandingApprovalList = listOf(StandingApproval, 'StandingApprovalList');

const NewStandingApproval = closed(
  {
    mailboxId: MailboxId,
    recipients: Type.Array(Type.String({ maxLength: RECIPIENT_MAX_CHARACTERS, pattern: RECIPIENT }), {
      minItems: 1,
      maxItems: STANDING_APPROVAL_RECIPIENTS_MAX,
      description: 'Addresses, and domains without their subdomains.',
    }),
    endsAt: dateTime(`When it ends, at most ${STANDING_APPROVAL_AHEAD_MAX_DAYS} days ahead.`),
    messagesMax: Type.Integer({
      minimum: 1,
      maximum: STANDING_APPROVAL_MESSAGES_MAX,
      description: 'How many messages may be submitted by it.',
    }),
  },
  { title: 'NewStandingApproval' },
);

const example = {
  id: 'sta_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: mailboxExample.id,
  recipients: ['ada@customer.example', 'partner.example'],
  endsAt: '2099-11-28T09:16:02.481Z',
  messagesMax: 50,
  messagesUsed: 3,
  state: 'active',
  createdBy: {
    type: 'user',
    id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
    name: 'Grace Hill',
    email: 'grace@acme.example',
    address: null,
  },
  createdAt: '2026-11-21T09:16:02.481Z',
  revokedBy: null,
  revokedAt: null,
} as const;

function presentStandingApproval(row: Row, nowMs: number): Static<typeof StandingApproval> {
  const { id, mailboxId, recipients, endsAt, messagesMax, messagesUsed, createdBy, createdAt, revokedBy, revokedAt } =
    row;
  return {
    id,
    mailboxId,
    recipients: [...recipients],
    endsAt: endsAt.toISOString(),
    messagesMax,
    messagesUsed,
    state: standingApprovalState(row, nowMs),
    createdBy: { ...createdBy },
    createdAt: createdAt.toISOString(),
    revokedBy: revokedBy === null ? null : { ...revokedBy },
    revokedAt: timeOf(revokedAt),
  };
}

const tag = 'Consents';
const DECIDES =
  'Needs a session of a member; an API key may do it only if the organization sets `consentByApiKey`, a mailbox token never.';

export const standingApprovalRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/standing-approvals',
    operationId: 'listStandingApprovals',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'List standing approvals, newest first',
    description: 'Those that ended or were revoked are listed for 90 days after their end.',
    auth: { scope: 'mailbox:read' },
    query: closed({ mailboxId: Type.Optional(MailboxId), ...pageQuery }),
    responses: {
      200: {
        description: 'A page of them.',
        schema: StandingApprovalList,
        example: { data: [example], nextCursor: null },
      },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('standingApproval', query);
      const rows = await listStandingApprovals(services.db, organization.id, query.mailboxId, page);
      return { status: 200, body: listBody(rows, page, (row) => presentStandingApproval(row, services.now())) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/standing-approvals',
    operationId: 'createStandingApproval',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Approve messages of a mailbox in advance',
    description: `Until a time and for a number of messages, mail of the mailbox to these addresses and domains needs no request if all its outside recipients are among them. Budgets, block lists and stops hold or refuse it as before; a reply that contains other mail, or is for elsewhere, and a message that was sent back are still held. ${DECIDES}`,
    auth: { scope: 'mailbox:write' },
    body: NewStandingApproval,
    bodyExample: {
      mailboxId: example.mailboxId,
      recipients: example.recipients,
      endsAt: example.endsAt,
      messagesMax: example.messagesMax,
    },
    responses: { 201: { description: 'The approval.', schema: StandingApproval, example } },
    errors: ['not_found', 'conflict'],
    async handler({ services, organization, caller, body }) {
      await requireDecider(services.db, organization.id, caller);
      const { mailboxId, recipients, endsAt, messagesMax } = body;
      const given = { mailboxId, recipients, endsAt: new Date(endsAt), messagesMax };
      const row = await createStandingApproval(services, organization.id, given, caller);
      return { status: 201, body: presentStandingApproval(row, services.now()) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/standing-approvals/:id',
    operationId: 'revokeStandingApproval',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Revoke a standing approval',
    description: 'From now on messages need approval again. Those that were submitted are sent.',
    auth: { scope: 'mailbox:write' },
    params: closed({ id: Id }),
    responses: { 204: { description: 'Revoked.' } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await revokeStandingApproval(services, organization.id, params.id, caller);
      return { status: 204 };
    },
  }),
];
