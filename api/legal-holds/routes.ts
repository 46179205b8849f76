/** Legal holds, for owners only: agents and other members see no difference. */
import Type, { type Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { Actor, closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import { MailboxId, mailboxExample } from '#api/mailboxes/schema.ts';
import {
  type LegalHold as Hold,
  liftLegalHold,
  listLegalHolds,
  PRESERVED_COUNTED_MAX,
  setLegalHold,
} from '#core/mailboxes/legal-holds.ts';
import { idPattern } from '#domain/ids.ts';
import { LEGAL_HOLD_REASON_MAX, LEGAL_HOLDS_MAX } from '#domain/mail/mail-retention.ts';

const Id = Type.String({ pattern: idPattern('legalHold'), description: 'Id of the legal hold.' });
const HeldMailboxId = nullable({
  ...MailboxId,
  description: 'The mailbox; null: all of the organization, those of later too.',
});

const LegalHold = closed(
  {
    id: Id,
    mailboxId: HeldMailboxId,
    mailboxAddress: nullable(Type.String()),
    reason: Type.String(),
    preservedMessages: Type.Integer({
      description: `Messages in no folder any more that are kept by holds, counted up to ${PRESERVED_COUNTED_MAX}.`,
    }),
    createdBy: Actor,
    createdAt: dateTime(),
  },
  { title: 'LegalHold' },
);
const LegalHoldList = closed(
  { data: Type.Array(LegalHold, { description: `Newest first; at most ${LEGAL_HOLDS_MAX}.` }) },
  { title: 'LegalHoldList' },
);
const NewLegalHold = closed(
  {
    mailboxId: Type.Optional(HeldMailboxId),
    reason: Type.String({
      minLength: 1,
      maxLength: LEGAL_HOLD_REASON_MAX,
      description: 'For the audit log and the other owners.',
    }),
  },
  { title: 'NewLegalHold' },
);

const example = {
  id: 'lgh_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: mailboxExample.id,
  mailboxAddress: mailboxExample.address,
  reason: 'Case 2026-114',
  preservedMessages: 12,
  createdBy: {
    type: 'user',
    id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
    name: 'Grace Hill',
    email: 'grace@acme.example',
    address: null,
  },
  createdAt: '2026-11-28T09:16:02.481Z',
} as const;

const presentLegalHold = (hold: Hold): Static<typeof LegalHold> => ({
  id: hold.id,
  mailboxId: hold.mailboxId,
  mailboxAddress: hold.mailboxAddress,
  reason: hold.reason,
  preservedMessages: hold.preservedMessages,
  createdBy: { ...hold.createdBy },
  createdAt: hold.createdAt.toISOString(),
});

const tag = 'Organization';
const withoutCall = {
  client: 'For signed-in owners; the client has keys and tokens.',
  cli: 'For signed-in owners; operators have agent-mailbox-admin legal-holds.',
};

export const legalHoldRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/legal-holds',
    operationId: 'listLegalHolds',
    withoutCall,
    tag,
    summary: 'List the legal holds of the organization',
    auth: { role: 'owner' },
    responses: { 200: { description: 'All of them.', schema: LegalHoldList, example: { data: [example] } } },
    async handler({ services, organization }) {
      const holds = await listLegalHolds(services.db, organization.id);
      return { status: 200, body: { data: holds.map(presentLegalHold) } };
    },
  }),
  route({
    method: 'POST',
    path: '/api/legal-holds',
    operationId: 'setLegalHold',
    withoutCall,
    tag,
    summary: 'Put a mailbox, or the organization, on legal hold',
    description:
      'As long as a hold applies, no content of the mailbox is deleted: not by its retention or expiry, not by people, agents and mail clients, whose deletions only hide messages, and not by an erasure, which is refused. Mail clients and agents see no difference. What is there at the answer is kept.',
    auth: { role: 'owner' },
    body: NewLegalHold,
    bodyExample: { mailboxId: example.mailboxId, reason: example.reason },
    responses: { 201: { description: 'The hold.', schema: LegalHold, example } },
    errors: ['not_found', 'conflict'],
    async handler({ services, organization, caller, body: { mailboxId = null, reason } }) {
      const hold = await setLegalHold(services, organization.id, caller, { mailboxId, reason });
      return { status: 201, body: presentLegalHold(hold) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/legal-holds/:id',
    operationId: 'liftLegalHold',
    withoutCall,
    tag,
    summary: 'Lift a legal hold',
    description: 'What no other hold keeps is deleted by the next runs of retention, within some hours.',
    auth: { role: 'owner' },
    params: closed({ id: Id }),
    responses: { 204: { description: 'Lifted.' } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await liftLegalHold(services, organization.id, params.id, caller);
      return { status: 204 };
    },
  }),
];
