/**
 * The request bodies of webhooks: a schema and an example of the envelope for each event type.
 *
 * One source for `GET /api/webhooks/event-types`, for the `webhooks` of the OpenAPI document, for test deliveries, and
 * for the tests that validate recorded events. The schemas are open, because fields may be added at any time.
 */
import Type, { type TProperties, type TSchema } from 'typebox';
import { dateTime, nullable } from '#api/http/schema-parts.ts';
import { ConsentChanges } from '#api/messages/decision.ts';
import { MessageExtracts, Signal } from '#api/messages/schema.ts';
import { type IdKind, idPattern } from '#domain/ids.ts';
import { MAILBOX_STATUSES } from '#domain/organizations/mailboxes.ts';
import {
  ACTOR_TYPES,
  type Actor,
  EVENT_SCOPES,
  EVENT_TYPES,
  type EventEnvelope,
  type EventScopes,
  type EventType,
  SYSTEM_ACTOR,
} from '#domain/webhooks/event-types.ts';

const id = (kind: IdKind) => Type.String({ pattern: idPattern(kind) });
const text = (description?: string) => Type.String(description === undefined ? {} : { description });

const Organization = Type.Object(
  { id: id('organization'), name: text(), slug: text() },
  { title: 'EventOrganization' },
);

const mailboxFields = {
  id: id('mailbox'),
  name: text('Display name.'),
  address: text(),
  localPart: text(),
  domain: text(),
};

const EventMailbox = Type.Object(mailboxFields, {
  title: 'EventMailbox',
  description: 'Null when the event has no mailbox.',
});

const Actor = Type.Object(
  {
    type: Type.Enum(ACTOR_TYPES),
    id: nullable(text()),
    name: nullable(text()),
    email: nullable(text()),
    address: nullable(text()),
  },
  {
    title: 'EventActor',
    description: 'Who caused it. `external` is a sender outside; fields that do not apply to the type are null.',
  },
);

/** Fields any `data` may have beyond its own. */
const markers = {
  truncated: Type.Optional(
    Type.Literal(true, { description: 'Long fields were cut because the event exceeded 256 KiB.' }),
  ),
  full: Type.Optional(text('Path in the API of the complete content, if `truncated`.')),
  test: Type.Optional(Type.Literal(true, { description: 'An example requested by `POST /api/webhooks/:id/test`.' })),
};
const data = (title: string, fields: TProperties) => Type.Object({ ...fields, ...markers }, { title });

const message = { messageId: id('message'), threadId: id('thread') };
const addresses = (description: string) => Type.Array(text(), { description });
const parties = {
  from: text('`a@b.c` or `Name <a@b.c>`.'),
  to: addresses('As in the header of the message.'),
  cc: addresses('As in the header of the message.'),
  subject: text(),
};

const Attachment = Type.Object(
  {
    id: text('Of the attachment within its message.'),
    filename: nullable(text()),
    contentType: text(),
    sizeBytes: Type.Integer(),
  },
  { title: 'EventAttachment' },
);

const MailboxSnapshot = Type.Object(
  {
    ...mailboxFields,
    status: Type.Enum(MAILBOX_STATUSES),
    metadata: Type.Record(Type.String(), Type.String()),
    clientId: nullable(text()),
    createdAt: dateTime(),
  },
  { title: 'MailboxSnapshot', description: 'The mailbox at the time of the event.' },
);

const consent = {
  consentId: id('consent'),
  messageId: id('message'),
  recipients: addresses('Recipients the consent is about.'),
  subject: text(),
  preview: text('First characters of the text.'),
  expiresAt: dateTime('When the request expires without a decision.'),
};

/** A recipient and what a host said of it last. */
const recipientEnd = {
  address: text(),
  code: text('Enhanced status code (RFC 3463).'),
  reply: text('Answer of the other host, or of this service.'),
  remoteHost: nullable(text('Name of the other host, where it has answered about the message.')),
};

const result = {
  messageId: id('message'),
  threadId: nullable(id('thread')),
  from: text('`a@b.c` or `Name <a@b.c>`.'),
  subject: text(),
};

const DATA: Readonly<Record<EventType, TSchema>> = {
  email_received: data('EmailReceivedData', {
    ...message,
    ...parties,
    // Events of earlier versions have no such field.
    deliveredTo: Type.Optional(
      text('The address that it was sent to: of the mailbox, an alias of it, or one with a plus-tag.'),
    ),
    preview: text('First characters of the text.'),
    receivedAt: dateTime(),
    sizeBytes: Type.Integer({ description: 'Size of the message as received.' }),
    attachments: Type.Array(Attachment),
    labels: Type.Array(text()),
    authentication: Type.Object(
      { spf: text(), dkim: text(), dmarc: text() },
      { title: 'EventAuthentication', description: 'Results as in RFC 8601: `pass`, `fail`, `none`, …' },
    ),
    signals: Type.Array(Signal, { description: 'Facts that its reader cannot see or may misread; no verdict.' }),
    // Only for endpoints with `includeExtracts`, and at most 16 KiB.
    extracts: Type.Optional(MessageExtracts),
  }),
  email_sent: data('EmailSentData', {
    ...message,
    ...parties,
    sentAt: dateTime(),
    via: text('How its first recipient was reached: `local`, `relay`, `mx`, `capture`.'),
  }),
  email_blocked: data('EmailBlockedData', {
    direction: Type.Enum(['inbound', 'outbound']),
    messageId: nullable(id('message')),
    from: text(),
    to: addresses('Recipients it was blocked for.'),
    subject: text(),
    reason: text('Stable code for programs, e.g. `blocked_sender`.'),
    rule: nullable(text('Entry of a list that matched.')),
  }),
  mailbox_created: data('MailboxCreatedData', { mailbox: MailboxSnapshot }),
  mailbox_deleted: data('MailboxDeletedData', { mailbox: MailboxSnapshot }),
  outbound_consent_requested: data('OutboundConsentRequestedData', consent),
  outbound_consent_approved: data('OutboundConsentApprovedData', {
    ...consent,
    decision: Type.Object(
      { scope: Type.Enum(['message', 'address', 'domain']), decidedAt: dateTime(), changes: nullable(ConsentChanges) },
      { title: 'EventApproval' },
    ),
  }),
  outbound_consent_denied: data('OutboundConsentDeniedData', {
    ...consent,
    decision: Type.Object(
      {
        reason: nullable(text('Of a message that was sent back: the comment.')),
        decidedAt: dateTime(),
        // Events of earlier versions have no such field.
        returned: Type.Optional(
          Type.Boolean({ description: 'A person sent it back with a comment; a changed message may follow.' }),
        ),
      },
      { title: 'EventDenial' },
    ),
  }),
  email_delivered: data('EmailDeliveredData', {
    ...result,
    recipients: Type.Array(Type.Object(recipientEnd, { title: 'EventDeliveredRecipient' })),
    via: Type.Enum(['local', 'relay', 'mx'], { description: 'With `relay`, the relay has accepted it.' }),
    deliveredAt: dateTime(),
  }),
  email_bounced: data('EmailBouncedData', {
    ...result,
    recipients: Type.Array(
      Type.Object(
        {
          ...recipientEnd,
          bounce: Type.Enum(['hard', 'soft'], {
            description: '`hard`: there is no such recipient. `soft`: any other final failure.',
          }),
        },
        { title: 'EventBouncedRecipient' },
      ),
    ),
    source: Type.Enum(['attempt', 'report'], {
      description: '`report`: the other host had accepted the message, and reported the failure later.',
    }),
    bouncedAt: dateTime(),
  }),
  email_complained: data('EmailComplainedData', {
    ...result,
    recipients: addresses('Who complained.'),
    feedbackType: text('Of the report (RFC 5965): `abuse`, `fraud`, `virus`, `opt-out`, `other`.'),
    complainedAt: dateTime(),
  }),
};

const SUMMARIES: Readonly<Record<EventType, string>> = {
  email_received: 'A message arrived in a mailbox.',
  email_sent: 'A message was sent from a mailbox.',
  email_blocked: 'A rule refused or stopped a message.',
  mailbox_created: 'A mailbox was created.',
  mailbox_deleted: 'A mailbox was deleted, and its own endpoints with it.',
  outbound_consent_requested: 'A message waits for a person to allow its recipients.',
  outbound_consent_approved: 'A person allowed the recipients of a message.',
  outbound_consent_denied: 'A person refused the recipients of a message.',
  email_delivered: 'The hosts of these recipients accepted a message.',
  email_bounced: 'A message cannot be delivered to these recipients.',
  email_complained: 'A recipient reported a message as unwanted.',
};

export interface WebhookEvent {
  readonly type: EventType;
  /** What happened, in one sentence. */
  readonly summary: string;
  /** Endpoint scopes it can reach. */
  readonly scopes: EventScopes;
  /** JSON Schema (2020-12) of the body of a delivery. */
  readonly schema: TSchema;
  readonly example: EventEnvelope<object>;
}

const organization = { id: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8', name: 'Acme', slug: 'acme' };

const mailbox = {
  id: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Order desk',
  address: 'calm-otter-4821@agents.example.com',
  localPart: 'calm-otter-4821',
  domain: 'agents.example.com',
};

const snapshot = {
  ...mailbox,
  status: 'active',
  metadata: { team: 'orders' },
  clientId: 'order-desk-1',
  createdAt: '2026-11-21T09:15:00.000Z',
};

const customer: Actor = {
  type: 'external',
  id: null,
  name: 'Ada Byron',
  email: 'ada@customer.example',
  address: 'ada@customer.example',
};
const person: Actor = {
  type: 'user',
  id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Grace Hill',
  email: 'grace@acme.example',
  address: null,
};
const key: Actor = {
  type: 'api_key',
  id: 'key_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Provisioning',
  email: null,
  address: null,
};
const agent: Actor = { type: 'mailbox', id: mailbox.id, name: mailbox.name, email: null, address: mailbox.address };

const messageId = 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8';
const threadId = 'thr_01k8e8f2c0e4x9w2v7a3r5t6y8';

const consentExample = {
  consentId: 'con_01k8e8f2c0e4x9w2v7a3r5t6y8',
  messageId,
  recipients: ['ada@customer.example'],
  subject: 'Your order 4711',
  preview: 'Dear Ada, your order is on its way and should arrive on Tuesday.',
  expiresAt: '2026-11-28T09:16:02.481Z',
};

const resultExample = {
  messageId,
  threadId,
  from: `Order desk <${mailbox.address}>`,
  subject: 'Re: Where is my order 4711?',
};
const endExample = { address: 'ada@customer.example', remoteHost: 'mx.customer.example' };

const example = (
  type: EventType,
  actor: Actor,
  data: object,
  occurredAt = '2026-11-21T09:16:02.481Z',
): EventEnvelope<object> => ({
  id: 'evt_01k8e8f2c0e4x9w2v7a3r5t6y8',
  type,
  occurredAt,
  organization,
  mailbox,
  actor,
  data,
});

/** What endpoints with `includeExtracts` get in the example of `email_received` too. */
const extracts = {
  otp: '482913',
  otpCandidates: [{ code: '482913', confidence: 0.97 }],
  links: [{ url: 'https://shop.example/confirm?t=b1c2', text: 'Confirm address', kind: 'confirm', confidence: 0.98 }],
};

/** A realistic body for each event type. */
export const eventExamples: Readonly<Record<EventType, EventEnvelope<object>>> = {
  email_received: example('email_received', customer, {
    messageId,
    threadId,
    from: 'Ada Byron <ada@customer.example>',
    to: [mailbox.address],
    cc: [],
    deliveredTo: mailbox.address,
    subject: 'Where is my order 4711?',
    preview: 'Hello, I ordered last Monday and have not heard from you since. Could you have a look?',
    receivedAt: '2026-11-21T09:16:02.481Z',
    sizeBytes: 4_213,
    attachments: [{ id: '1', filename: 'order.pdf', contentType: 'application/pdf', sizeBytes: 2_048 }],
    labels: [],
    signals: [],
    authentication: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
  }),
  email_sent: example('email_sent', agent, {
    messageId,
    threadId,
    from: `Order desk <${mailbox.address}>`,
    to: ['Ada Byron <ada@customer.example>'],
    cc: [],
    subject: 'Re: Where is my order 4711?',
    sentAt: '2026-11-21T09:16:02.481Z',
    via: 'relay',
  }),
  email_blocked: example('email_blocked', customer, {
    direction: 'inbound',
    messageId: null,
    from: 'ada@customer.example',
    to: [mailbox.address],
    subject: 'You have won',
    reason: 'blocked_sender',
    rule: 'customer.example',
  }),
  mailbox_created: example('mailbox_created', key, { mailbox: snapshot }),
  mailbox_deleted: example('mailbox_deleted', person, { mailbox: { ...snapshot, status: 'deleting' } }),
  outbound_consent_requested: example('outbound_consent_requested', agent, consentExample),
  outbound_consent_approved: example('outbound_consent_approved', person, {
    ...consentExample,
    decision: { scope: 'address', decidedAt: '2026-11-21T09:40:11.020Z', changes: null },
  }),
  outbound_consent_denied: example('outbound_consent_denied', person, {
    ...consentExample,
    decision: { reason: 'Not a customer of ours.', decidedAt: '2026-11-21T09:40:11.020Z', returned: false },
  }),
  email_delivered: example('email_delivered', SYSTEM_ACTOR, {
    ...resultExample,
    recipients: [{ ...endExample, code: '2.0.0', reply: '250 2.0.0 Ok: queued as 4XkZ1' }],
    via: 'mx',
    deliveredAt: '2026-11-21T09:16:02.481Z',
  }),
  email_bounced: example('email_bounced', SYSTEM_ACTOR, {
    ...resultExample,
    recipients: [{ ...endExample, code: '5.1.1', reply: '550 5.1.1 User unknown', bounce: 'hard' }],
    source: 'attempt',
    bouncedAt: '2026-11-21T09:16:02.481Z',
  }),
  email_complained: example('email_complained', SYSTEM_ACTOR, {
    ...resultExample,
    recipients: ['ada@customer.example'],
    feedbackType: 'abuse',
    complainedAt: '2026-11-21T09:16:02.481Z',
  }),
};

/** Bodies of test deliveries. */
export const testExamples: Readonly<Record<EventType, EventEnvelope<object> & { readonly extracts?: object }>> = {
  ...eventExamples,
  email_received: { ...eventExamples.email_received, extracts },
};

/** `email_received` as `EmailReceived`. */
const titleOf = (type: EventType): string =>
  type
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** All event types, in the order of the interface. */
export const webhookEvents: readonly WebhookEvent[] = EVENT_TYPES.map((type) => ({
  type,
  summary: SUMMARIES[type],
  scopes: EVENT_SCOPES[type],
  schema: Type.Object(
    {
      id: Type.String({ pattern: idPattern('event'), description: 'Of the event; the same for all its deliveries.' }),
      type: Type.Literal(type),
      occurredAt: dateTime('UTC, with milliseconds.'),
      organization: Organization,
      mailbox: nullable(EventMailbox),
      actor: Actor,
      data: DATA[type],
    },
    { title: titleOf(type), description: SUMMARIES[type] },
  ),
  example: eventExamples[type],
}));
