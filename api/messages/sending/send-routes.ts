import { type Route } from '#api/http/route.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { mailboxExample } from '#api/mailboxes/schema.ts';
import { OwnMessagePath } from '#api/messages/schema.ts';
import { HELD_SENTENCE } from '#domain/sending/consent.ts';
import { REPEATED_SENTENCE } from '#domain/sending/outbound.ts';
import { forwardMessage, replyToMessage, sendMessage, statusOfMessage } from './send.ts';
import {
  ForwardMessage,
  HeldMessage,
  MessageStatus,
  RepeatedMessage,
  ReplyMessage,
  SEND_BODY_LIMIT_BYTES,
  SendMessage,
  SentMessage,
} from './send-schema.ts';

const tag = 'Sending';

const sent = {
  id: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  threadId: 'thr_01k8e8f2c0e4x9w2v7a3r5t6y8',
  status: 'queued',
  from: mailboxExample.address,
  to: ['Ada Byron <ada@customer.example>'],
  cc: [],
  bcc: [],
  subject: 'Re: Where is my order 4711?',
  messageId: '<c1d2@agents.example.com>',
  omitted: [],
  sendAt: null,
  repeated: false,
};
const { threadId, omitted, ...goesTo } = sent;
const held = {
  ...goesTo,
  omitted,
  status: 'consent_pending',
  consentId: 'con_01k8e8f2c0e4x9w2v7a3r5t6y8',
  message: HELD_SENTENCE,
};
/** The responses of every route that submits a message. */
export const submitResponses = {
  200: {
    description: 'It was submitted before with this `clientId`, and nothing was sent now.',
    schema: RepeatedMessage,
    example: { ...goesTo, threadId, repeated: true, consentId: null, message: REPEATED_SENTENCE },
  },
  201: {
    description: 'Submitted. The `status` `scheduled` means that it waits for `sendAt`.',
    schema: SentMessage,
    example: sent,
  },
  202: { description: 'Held until a person allows its recipients.', schema: HeldMessage, example: held },
} as const;
const statusResponses = {
  200: {
    description: 'The status of the message and of each recipient.',
    schema: MessageStatus,
    example: {
      id: sent.id,
      status: 'sent',
      consentId: null,
      submittedAt: '2026-11-21T09:16:02.481Z',
      sendAt: null,
      sentAt: '2026-11-21T09:16:03.012Z',
      finishedAt: '2026-11-21T09:16:03.012Z',
      stopped: null,
      decision: null,
      recipients: [
        {
          address: 'ada@customer.example',
          status: 'sent',
          code: '2.0.0',
          reply: '250 2.0.0 accepted',
          nextAttemptAt: null,
          updatedAt: '2026-11-21T09:16:03.012Z',
        },
      ],
      attempts: [
        {
          destination: 'customer.example',
          number: 1,
          transport: 'mx',
          recipients: ['ada@customer.example'],
          startedAt: '2026-11-21T09:16:02.611Z',
          finishedAt: '2026-11-21T09:16:03.012Z',
          outcome: 'sent',
          reply: '250 2.0.0 accepted',
        },
      ],
    },
  },
} as const;

const HELD_NOTE =
  ' Mail to a new recipient outside may be held for a person’s consent. The answer is then 202, which is not a failure; do not send it again.';
const errors = [
  'conflict',
  'recipient_blocked',
  'content_refused',
  'sending_stopped',
  'drafts_only',
  'quota_exceeded',
] as const;
const content = { text: 'Dear Ada, your order is on its way.' };
const sendExample = { to: ['Ada Byron <ada@customer.example>'], subject: 'Your order 4711', ...content };
const forwardExample = { to: ['colleague@acme.example'], ...content };

const common = { tag, bodyLimitBytes: SEND_BODY_LIMIT_BYTES, responses: submitResponses } as const;
const SEND = { summary: 'Send a message', description: `As the mailbox.${HELD_NOTE}`, tokenNeeds: 'send' } as const;
const REPLY_ALL = { summary: 'Reply to all', description: `To everybody in From, To and Cc.${HELD_NOTE}` };
const STATUS = { summary: 'Get the status of a sent message', tokenNeeds: 'any' } as const;

export const sendRoutes: readonly Route[] = [
  ...onMailbox({
    ...common,
    ...SEND,
    method: 'POST',
    path: '/messages',
    operationIds: ['sendMailboxMessage', 'sendMessage'],
    body: SendMessage,
    bodyExample: sendExample,
    errors,
    findsMailbox: true,
    handler: (request, { id }) => sendMessage(request, id, request.body),
  }),
  ...onMailbox({
    ...common,
    summary: 'Reply to a message',
    description: `To its Reply-To, else its From. \`omitted\` lists addresses in To and Cc that do not get the reply.${HELD_NOTE}`,
    method: 'POST',
    path: '/messages/:mid/reply',
    operationIds: ['replyToMailboxMessage', 'replyToMessage'],
    params: OwnMessagePath,
    body: ReplyMessage,
    bodyExample: content,
    errors: ['not_found', ...errors],
    findsMailbox: true,
    handler: (request, { id }) => replyToMessage(request, id, request.params.mid, request.body, false),
  }),
  ...onMailbox({
    ...common,
    ...REPLY_ALL,
    method: 'POST',
    path: '/messages/:mid/reply-all',
    operationIds: ['replyToAllOfMailboxMessage', 'replyToAllOfMessage'],
    params: OwnMessagePath,
    body: ReplyMessage,
    bodyExample: content,
    errors: ['not_found', ...errors],
    findsMailbox: true,
    handler: (request, { id }) => replyToMessage(request, id, request.params.mid, request.body, true),
  }),
  ...onMailbox({
    ...common,
    summary: 'Forward a message',
    description: `Its text is put below yours, and the whole message is attached.${HELD_NOTE}`,
    method: 'POST',
    path: '/messages/:mid/forward',
    operationIds: ['forwardMailboxMessage', 'forwardMessage'],
    params: OwnMessagePath,
    body: ForwardMessage,
    bodyExample: forwardExample,
    errors: ['not_found', ...errors],
    findsMailbox: true,
    handler: (request, { id }) => forwardMessage(request, id, request.params.mid, request.body),
  }),
  ...onMailbox({
    ...STATUS,
    tag,
    method: 'GET',
    path: '/messages/:mid/status',
    operationIds: ['getMailboxMessageStatus', 'getMessageStatus'],
    params: OwnMessagePath,
    responses: statusResponses,
    errors: ['not_found'],
    findsMailbox: true,
    handler: (request, { id }) => statusOfMessage(request, id, request.params.mid),
  }),
];
