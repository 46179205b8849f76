/** Messages that wait to be sent, and withdrawing them. */

import Type, { type Static } from 'typebox';
import { type Route } from '#api/http/route.ts';
import {
  closed,
  dateTime,
  listBody,
  listOf,
  MessageId,
  nullable,
  PageQuery,
  pageOf,
  timeOf,
} from '#api/http/schema-parts.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { MessageDecision, presentDecision } from '#api/messages/decision.ts';
import { Address, OwnMessagePath } from '#api/messages/schema.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import { idPattern } from '#domain/ids.ts';
import { HELD_BECAUSE_KINDS } from '#domain/sending/consent.ts';
import { OUTBOUND_STATUSES, outboundStatus, RECIPIENT_STATUSES, waitsForTime } from '#domain/sending/outbound.ts';
import { listOutbox, type OutboxMessage, outboxReason } from '#sending/outbox/outbox.ts';
import { signalDecided } from '#sending/submit/start-outbound.ts';
import { mayBeWithdrawn, withdrawMessage } from '#sending/submit/withdraw-message.ts';

/** The state of an entry: what it waits for, or its result. */
const OUTBOX_STATES = ['held', 'scheduled', 'queued', 'sending', 'sent', 'failed', 'denied', 'withdrawn'] as const;
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
type OutboxEntrySchema = typeof OutboxMessage;

export const WithdrawnMessage = closed(
  {
    id: MessageId,
    draftId: { ...draftId, description: 'The restored draft; null: there was none, or no room for it.' },
  },
  { title: 'WithdrawnMessage' },
);

const tag = 'Sending';

const entryExample = {
  id: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  state: 'held',
  status: 'consent_pending',
  heldBecause: 'first_contact',
  reason:
    'First contact with ada@customer.example. A person decides until 2026-11-28T09:16:02.481Z; do not send it again.',
  to: ['Ada Byron <ada@customer.example>'],
  cc: [],
  subject: 'Your order 4711',
  preview: 'Dear Ada, your order is on its way.',
  recipients: [{ address: 'ada@customer.example', status: 'queued', reply: null, nextAttemptAt: null }],
  submittedAt: '2026-11-21T09:16:02.481Z',
  sendAt: null,
  finishedAt: null,
  consentId: 'con_01k8e8f2c0e4x9w2v7a3r5t6y8',
  expiresAt: '2026-11-28T09:16:02.481Z',
  decision: null,
  draftId: null,
  withdraw: { method: 'DELETE', path: '/api/mailbox/outbox/msg_01k8e8f2c0e4x9w2v7a3r5t6y8' },
};
const listResponses = {
  200: {
    description: 'A page of messages.',
    schema: OutboxList,
    example: { data: [entryExample], nextCursor: null },
  },
} as const;
const withdrawResponses = {
  200: {
    description: 'Withdrawn.',
    schema: WithdrawnMessage,
    example: { id: entryExample.id, draftId: 'drf_01k8e8f2c0e4x9w2v7a3r5t6y8' },
  },
} as const;

function stateOf({ state, recipients, request, sendAt, stoppedAt }: OutboxMessage): (typeof OUTBOX_STATES)[number] {
  const has = (...statuses: readonly string[]) => recipients.some(({ status }) => statuses.includes(status));
  switch (state) {
    case 'held':
      return state;
    case 'scheduled':
      return waitsForTime({ sendAt, stoppedAt }) ? state : 'queued';
    case 'sending':
      return recipients.every(({ status }) => status === 'queued') ? 'queued' : 'sending';
    case 'denied':
      return request?.decision?.outcome === 'withdrawn' || (has('denied') && recipients.every(isCancelled))
        ? 'withdrawn'
        : 'denied';
    case 'done':
      return has('bounced', 'suppressed', 'denied') ? 'failed' : 'sent';
  }
}

const isCancelled = ({ reply }: OutboxMessage['recipients'][number]): boolean => reply === 'cancelled';

function presentEntry(message: OutboxMessage, base: string): Static<OutboxEntrySchema> {
  const { id, request, recipients } = message;
  const statuses = recipients.map(({ status }) => status);
  return {
    id,
    state: stateOf(message),
    status: outboundStatus(message.state, statuses, waitsForTime(message)),
    heldBecause: message.state === 'held' ? (request?.heldBecause ?? 'not_recorded') : null,
    reason: outboxReason(message),
    to: [...message.to],
    cc: [...message.cc],
    subject: message.subject,
    preview: message.preview,
    recipients: recipients.map(({ address, status, reply, nextAttemptAt }) => ({
      address,
      status,
      reply,
      nextAttemptAt: nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString(),
    })),
    submittedAt: message.submittedAt.toISOString(),
    sendAt: timeOf(message.sendAt),
    finishedAt: timeOf(message.finishedAt),
    consentId: message.consentId,
    expiresAt: request?.expiresAt.toISOString() ?? null,
    decision: presentDecision(request?.decision ?? null),
    draftId: message.draftId,
    withdraw: mayBeWithdrawn(message, recipients) ? { method: 'DELETE', path: `${base}/outbox/${id}` } : null,
  };
}

async function answerOutbox({ db, now }: Services, mailboxId: string, base: string, query: Static<typeof PageQuery>) {
  const page = pageOf('message', query);
  const rows = await listOutbox(db, mailboxId, now(), page);
  return { status: 200, body: listBody(rows, page, (row) => presentEntry(row, base)) } as const;
}

interface WithdrawContext {
  readonly services: Services;
  readonly temporal: TemporalClient;
  readonly caller: Caller;
}

async function answerWithdraw({ services, temporal, caller }: WithdrawContext, mailboxId: string, messageId: string) {
  const outcome = await withdrawMessage(services, mailboxId, messageId, caller.actor, 'queued_too');
  if (outcome.kind === 'unknown') throw new CatalogueError('not_found');
  if (outcome.kind === 'too_late')
    throw new CatalogueError('conflict', 'The message is being sent or is final, and cannot be withdrawn.', {
      fix: 'Read its status: GET …/messages/:mid/status.',
    });
  await signalDecided(services, temporal, [messageId]);
  return { status: 200, body: { id: messageId, draftId: outcome.draftId } } as const;
}

export const outboxRoutes: readonly Route[] = [
  ...onMailbox({
    method: 'GET',
    path: '/messages/outbox',
    operationIds: ['listMailboxOutbox', 'listOutbox'],
    tag,
    summary: 'List messages that wait to be sent, newest first',
    description:
      'Messages that are held for a person, scheduled, queued or being sent, and those decided or failed within 24 hours: state, reason, the decision with its changes, and how to withdraw the message.',
    query: PageQuery,
    responses: listResponses,
    handler: ({ services, query }, { id, path }) => answerOutbox(services, id, path, query),
  }),
  ...onMailbox({
    method: 'DELETE',
    path: '/outbox/:mid',
    operationIds: ['withdrawMailboxMessage', 'withdrawMessage'],
    tag,
    summary: 'Withdraw a message',
    description:
      'For a held, scheduled or queued message: nobody gets it, its copy in Sent is removed, and the draft it was made from is restored under its id. A message that is being sent or is final is a conflict.',
    params: OwnMessagePath,
    responses: withdrawResponses,
    errors: ['not_found', 'conflict'],
    handler: (request, { id }) => answerWithdraw(request, id, request.params.mid),
  }),
];
