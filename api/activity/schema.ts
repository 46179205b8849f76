import Type, { type Static } from 'typebox';
import { closed, dateTime, MessageId, nullable, temporalLink, timeOf } from '#api/http/schema-parts.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
import type { Activity } from '#core/events/find-activity.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { MessageHitRow } from '#db/queries/events/activity-search.ts';
import { idPattern } from '#domain/ids.ts';
import { MAIL_REFUSAL_RETENTION_DAYS } from '#domain/mail/mail-log.ts';
import { HELD_REASONS } from '#domain/mail/screening.ts';
import { OUTBOUND_STATUSES, outboundStatus } from '#domain/sending/outbound.ts';
import {
  ACTIVITY_ENTRY_KINDS,
  ACTIVITY_HITS_MAX,
  ACTIVITY_KINDS,
  ACTIVITY_NOT_DELIVERED_MAX,
  ACTIVITY_OUTCOMES,
  ACTIVITY_QUERY_MAX,
  type ActivityEntry,
  NOT_DELIVERED_OUTCOMES,
} from '#domain/webhooks/activity.ts';

export const ActivityQuery = closed({
  q: Type.String({
    minLength: 1,
    maxLength: ACTIVITY_QUERY_MAX,
    description:
      'An id (`msg_…`, `evt_…`, `con_…`, `mrf_…`, or the `webhook-id` `dlv_…`), a Message-ID in angle brackets, an address, a day, hour, minute or second (`2026-11-28`, `2026-11-28T09:16`; UTC, or with an offset), or words of a subject or text. Mail that did not arrive is also found by the address of the client and by the id of the SMTP session or of the REST request.',
  }),
});

const ActivityMessage = closed(
  {
    id: MessageId,
    mailboxId: MailboxId,
    mailboxAddress: Type.String(),
    direction: Type.Enum(['inbound', 'outbound', 'stored'], {
      description: '`stored`: by a mail client or by the service.',
    }),
    subject: Type.String(),
    from: nullable(Type.String()),
    to: Type.Array(Type.String(), { description: 'At most 20.' }),
    at: dateTime('When it was submitted or received.'),
    status: nullable(Type.Enum([...OUTBOUND_STATUSES], { description: 'Status of a submitted message.' })),
    answer: nullable(
      Type.String({
        description:
          'Of a submitted message: the last answer of another host, or the code, about a recipient that does not have it.',
      }),
    ),
  },
  { title: 'ActivityMessage' },
);

const ActivityEntry = closed(
  {
    at: nullable(dateTime('Null: it has not happened yet.')),
    kind: Type.Enum(ACTIVITY_ENTRY_KINDS),
    outcome: Type.Enum(ACTIVITY_OUTCOMES),
    text: Type.String({ description: 'What happened, for people. Parts of it come from strangers.' }),
    detail: nullable(Type.String()),
    dueAt: nullable(dateTime('When the entry is due, if it has not happened yet.')),
    messageId: nullable(MessageId),
    consentId: nullable(Type.String({ pattern: idPattern('consent') })),
    eventId: nullable(Type.String({ pattern: idPattern('event') })),
    deliveryId: nullable(Type.String({ pattern: idPattern('delivery') })),
    endpointId: nullable(
      Type.String({ pattern: idPattern('webhookEndpoint'), description: 'Null also if it was deleted.' }),
    ),
    workflowId: nullable(Type.String()),
    temporalUrl: Type.Optional(
      Type.String({ description: 'The workflow in the Temporal UI, where one is configured.' }),
    ),
  },
  { title: 'ActivityEntry' },
);

const ActivityTimeline = closed(
  {
    message: nullable(ActivityMessage),
    entries: Type.Array(ActivityEntry, { description: 'By time; entries that have not happened yet are last.' }),
    truncated: Type.Boolean({ description: 'There are more entries of one kind than are shown.' }),
  },
  {
    title: 'ActivityTimeline',
    description: 'Of the only hit, or of the object with the given id. `message` is null if the event has none.',
  },
);

const NotDelivered = closed(
  {
    id: Type.String({ description: 'Of the refusal (`mrf_…`), or of the message that screening holds (`msg_…`).' }),
    at: dateTime('When it was refused, deferred or held.'),
    direction: Type.Enum(['inbound', 'outbound'], { description: '`outbound`: given to us for sending, and refused.' }),
    outcome: Type.Enum(NOT_DELIVERED_OUTCOMES, {
      description:
        '`deferred`: the sender was asked to try again later; `held`: by screening, until a member decides; `blocked` and `spam`: how a member decided.',
    }),
    from: nullable(Type.String({ description: 'Envelope sender; empty for reports of other hosts.' })),
    to: Type.Array(Type.String(), { description: 'Envelope recipients of the organization, at most 20.' }),
    messageIdHeader: nullable(Type.String({ description: 'Null: not known, such as at RCPT.' })),
    step: nullable(Type.String({ description: 'The SMTP command that was refused, or the operation of REST.' })),
    answer: nullable(Type.String({ description: 'The answer that the other side got.' })),
    client: nullable(Type.String({ description: 'Address of the client.' })),
    session: nullable(Type.String({ description: 'Id of the SMTP session, or of the REST request.' })),
    reasons: Type.Array(Type.Enum(HELD_REASONS), { description: 'Why screening held it.' }),
    mailboxId: nullable(MailboxId),
  },
  { title: 'NotDelivered' },
);

export const ActivityResult = closed(
  {
    understoodAs: Type.Enum(ACTIVITY_KINDS, { description: 'How `q` was interpreted.' }),
    hits: Type.Array(ActivityMessage, { description: `Messages, newest first, at most ${ACTIVITY_HITS_MAX}.` }),
    more: Type.Boolean({ description: 'There are older ones.' }),
    complete: Type.Boolean({
      description: 'false: the words occur in too many messages to search all of them; add another word.',
    }),
    timeline: nullable(ActivityTimeline),
    notDelivered: Type.Array(NotDelivered, {
      description: `Mail of the organization that did not arrive, of the last ${MAIL_REFUSAL_RETENTION_DAYS} days, newest first, at most ${ACTIVITY_NOT_DELIVERED_MAX}.`,
    }),
  },
  { title: 'ActivityResult' },
);

type Result = Static<typeof ActivityResult>;

function directionOf({ state, origin }: MessageHitRow): 'inbound' | 'outbound' | 'stored' {
  if (state !== null || origin === 'submission') return 'outbound';
  return origin === 'append' || origin === 'system' ? 'stored' : 'inbound';
}

const presentMessage = (message: MessageHitRow): Result['hits'][number] => ({
  id: message.id,
  mailboxId: message.mailboxId,
  mailboxAddress: message.mailboxAddress,
  direction: directionOf(message),
  subject: message.subject,
  from: message.from,
  to: [...message.to],
  at: message.at.toISOString(),
  status: message.state === null ? null : outboundStatus(message.state, message.statuses),
  answer: message.answer,
});

const presentEntry = ({ at, dueAt, ...entry }: ActivityEntry, settings: Settings) => ({
  ...entry,
  at: timeOf(at),
  dueAt: timeOf(dueAt),
  ...temporalLink(entry.workflowId, settings),
});

export const presentActivity = (activity: Activity, settings: Settings): Result => ({
  understoodAs: activity.understoodAs,
  hits: activity.hits.map(presentMessage),
  more: activity.more,
  complete: activity.complete,
  timeline:
    activity.timeline === null
      ? null
      : {
          message: activity.timeline.message === null ? null : presentMessage(activity.timeline.message),
          entries: activity.timeline.entries.map((entry) => presentEntry(entry, settings)),
          truncated: activity.timeline.truncated,
        },
  notDelivered: activity.notDelivered.map(({ at, ...mail }) => ({
    ...mail,
    reasons: [...mail.reasons],
    to: [...mail.to],
    at: at.toISOString(),
  })),
});
