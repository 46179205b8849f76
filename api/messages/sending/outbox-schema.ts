import Type from 'typebox';
import { closed, dateTime, listOf, nullable } from '#api/http/schema-parts.ts';
import { MessageDecision } from '#api/messages/decision-schema.ts';
import { Address, MessageId } from '#api/messages/schema.ts';
import { idPattern } from '#domain/ids.ts';
import { HELD_BECAUSE_KINDS } from '#domain/sending/consent.ts';
import { OUTBOUND_STATUSES, RECIPIENT_STATUSES } from '#domain/sending/outbound.ts';

/** The state of an entry: what it waits for, or its result. */
export const OUTBOX_STATES = [
  'held',
  'scheduled',
  'queued',
  'sending',
  'sent',
  'failed',
  'denied',
  'withdrawn',
] as const;
const draftId = nullable(Type.String({ pattern: idPattern('draft') }));

const OutboxRecipient = closed(
  {
    address: Type.String(),
    status: Type.Enum([...RECIPIENT_STATUSES]),
    reply: nullable(Type.String({ description: 'Answer of the other host, or why there was none.' })),
    nextAttemptAt: nullable(dateTime()),
  },
  { title: 'OutboxRecipient' },
);

const Withdraw = closed(
  { method: Type.Literal('DELETE'), path: Type.String() },
  { title: 'WithdrawRequest', description: 'The request that withdraws the message.' },
);

const OutboxMessage = closed(
  {
    id: MessageId,
    state: Type.Enum([...OUTBOX_STATES], {
      description:
        '`held` waits for a person, `scheduled` for its time, `queued` for an attempt; `failed`: somebody was not reached.',
    }),
    status: Type.Enum([...OUTBOUND_STATUSES], { description: 'The same status as in `GET …/messages/:mid/status`.' }),
    heldBecause: nullable(Type.Enum([...HELD_BECAUSE_KINDS], { description: 'Why it is held; null: it is not.' })),
    reason: nullable(Type.String({ description: 'Why it is listed, for an agent to read.' })),
    to: Type.Array(Address),
    cc: Type.Array(Address),
    subject: Type.String(),
    preview: Type.String(),
    recipients: Type.Array(OutboxRecipient, { description: 'All recipients, including Bcc.' }),
    submittedAt: dateTime(),
    sendAt: nullable(dateTime('It is not sent before this time; null: not scheduled.')),
    finishedAt: nullable(dateTime()),
    consentId: nullable(Type.String({ pattern: idPattern('consent') })),
    expiresAt: nullable(dateTime('Until when a person may decide; null: no decision is needed.')),
    decision: nullable(MessageDecision),
    draftId: nullable(
      Type.String({
        pattern: idPattern('draft'),
        description: 'The draft that is restored when the message is withdrawn.',
      }),
    ),
    withdraw: nullable(Withdraw),
  },
  { title: 'OutboxMessage' },
);
export const OutboxList = listOf(OutboxMessage, 'OutboxList');
export type OutboxEntrySchema = typeof OutboxMessage;

export const WithdrawnMessage = closed(
  {
    id: MessageId,
    draftId: { ...draftId, description: 'The restored draft; null: there was none, or no room for it.' },
  },
  { title: 'WithdrawnMessage' },
);
