import Type, { type Static } from 'typebox';
import { closed, dateTime, MessageId, nullable, temporalLink, timeOf } from '#api/http/schema-parts.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
import type { Activity } from '#core/events/find-activity.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { MessageHitRow } from '#db/queries/events/activity-search.ts';
import { idPattern } from '#domain/ids.ts';
import { OUTBOUND_STATUSES, outboundStatus } from '#domain/sending/outbound.ts';
import {
  ACTIVITY_ENTRY_KINDS,
  ACTIVITY_HITS_MAX,
  ACTIVITY_KINDS,
  ACTIVITY_OUTCOMES,
  ACTIVITY_QUERY_MAX,
  type ActivityEntry,
} from '#domain/webhooks/activity.ts';

export const ActivityQuery = closed({
  q: Type.String({
    minLength: 1,
    maxLength: ACTIVITY_QUERY_MAX,
    description:
      'An id (`msg_…`, `evt_…`, `con_…`, or the `webhook-id` `dlv_…`), a Message-ID in angle brackets, an address, or words of a subject or text.',
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

export const ActivityResult = closed(
  {
    understoodAs: Type.Enum(ACTIVITY_KINDS, { description: 'How `q` was interpreted.' }),
    hits: Type.Array(ActivityMessage, { description: `Messages, newest first, at most ${ACTIVITY_HITS_MAX}.` }),
    more: Type.Boolean({ description: 'There are older ones.' }),
    complete: Type.Boolean({
      description: 'false: the words occur in too many messages to search all of them; add another word.',
    }),
    timeline: nullable(ActivityTimeline),
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
});
