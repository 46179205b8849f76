/**
 * The request bodies of webhooks: a schema and an example of the envelope for each event type.
 *
 * One source for `GET /api/webhooks/event-types`, for the `webhooks` of the OpenAPI document, for test deliveries, and
 * for the tests that validate recorded events. The schemas are open, because fields may be added at any time.
 */
import Type, { type TProperties, type TSchema } from 'typebox';
import { dateTime, nullable } from '#api/http/schema-parts.ts';
import { ConsentChanges } from '#api/messages/decision-schema.ts';
import { MessageExtracts } from '#api/messages/schema.ts';
import { type IdKind, idPattern } from '#domain/ids.ts';
import { MAILBOX_STATUSES } from '#domain/organizations/mailboxes.ts';
import {
  ACTOR_TYPES,
  EVENT_SCOPES,
  EVENT_TYPES,
  type EventEnvelope,
  type EventScopes,
  type EventType,
} from '#domain/webhooks/event-types.ts';
import { eventExamples } from './event-examples.ts';

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

const DATA: Readonly<Record<EventType, TSchema>> = {
  email_received: data('EmailReceivedData', {
    ...message,
    ...parties,
    preview: text('First characters of the text.'),
    receivedAt: dateTime(),
    sizeBytes: Type.Integer({ description: 'Size of the message as received.' }),
    attachments: Type.Array(Attachment),
    labels: Type.Array(text()),
    authentication: Type.Object(
      { spf: text(), dkim: text(), dmarc: text() },
      { title: 'EventAuthentication', description: 'Results as in RFC 8601: `pass`, `fail`, `none`, …' },
    ),
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
    decision: Type.Object({ reason: nullable(text()), decidedAt: dateTime() }, { title: 'EventDenial' }),
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
