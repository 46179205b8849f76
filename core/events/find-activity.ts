/**
 * Finds what happened to a message or event. The search text is one of our ids, a Message-ID, an address, a time, or
 * words; it leads to messages, or to an event without a message. A single hit is returned with its whole timeline. Mail
 * that did not arrive has no message: it is found beside them.
 */

import type { Services } from '#core/platform/process/services.ts';
import type { Database, Sql } from '#db/database.ts';
import {
  type EventRow,
  eventOfDelivery,
  eventsOfMessage,
  findEvent,
  type MessageHitRow,
  messageHits,
  messageOfConsent,
  messagesOfMailbox,
  messagesToAddress,
  messagesWithin,
  messagesWithMessageId,
  messagesWithWords,
} from '#db/queries/events/activity-search.ts';
import {
  attemptsOfDeliveries,
  consentRows,
  deliveriesOfEvents,
  sendingRows,
  storedRow,
  submittedRow,
} from '#db/queries/events/activity-timeline.ts';
import { mailNotDelivered, type NotDeliveredRow } from '#db/queries/events/mail-not-delivered.ts';
import { isId } from '#domain/ids.ts';
import { MAIL_REFUSAL_RETENTION_DAYS } from '#domain/mail/mail-log.ts';
import { deliveryAddress, isEmailAddress } from '#domain/mail/mailbox-address.ts';
import {
  ACTIVITY_HITS_MAX,
  ACTIVITY_NOT_DELIVERED_MAX,
  ACTIVITY_ROWS_MAX,
  type ActivityEntry,
  type ActivityKind,
  byTime,
} from '#domain/webhooks/activity.ts';
import { typedPeriod } from '#domain/webhooks/activity-time.ts';
import { deliveryEntries, eventEntry } from './delivery-activity.ts';
import { sendingEntries, storedEntries } from './message-activity.ts';

export interface Activity {
  readonly understoodAs: ActivityKind;
  readonly hits: readonly MessageHitRow[];
  /** There are further ones, which are older. */
  readonly more: boolean;
  /** False: the words occur in too many messages to search all of them. */
  readonly complete: boolean;
  /** Of the only hit, or of the object with the given id. */
  readonly timeline: ActivityTimeline | null;
  /** Mail that was refused, deferred or is held by screening, in the last 30 days; newest first. */
  readonly notDelivered: readonly NotDeliveredRow[];
}

export interface ActivityTimeline {
  /** Null: the event has no message. */
  readonly message: MessageHitRow | null;
  readonly entries: readonly ActivityEntry[];
  /** There is more of one kind than is shown. */
  readonly truncated: boolean;
}

interface Found {
  readonly ids: readonly string[];
  readonly complete: boolean;
}

/** @param refHash by which threads know a Message-ID, hexadecimal */
export async function findActivity(
  { db, now }: Pick<Services, 'db' | 'now'>,
  organizationId: string,
  text: string,
  refHash: (messageIdHeader: string) => string,
): Promise<Activity> {
  const q = text.trim();
  const understoodAs = kindOf(q);
  if (understoodAs === 'event' || understoodAs === 'delivery') {
    const eventId = understoodAs === 'event' ? q : await eventOfDelivery(db, organizationId, q);
    const event = eventId === undefined ? undefined : await findEvent(db, organizationId, eventId);
    return event === undefined ? nothing(understoodAs) : activityOfEvent(db, organizationId, event, understoodAs);
  }
  const [{ ids, complete }, notDelivered] = await Promise.all([
    findMessages(db, organizationId, understoodAs, q, refHash),
    findNotDelivered(db, organizationId, q, now()),
  ]);
  const newest = [...new Set(ids)].toSorted().toReversed();
  const hits = await messageHits(db, organizationId, newest.slice(0, ACTIVITY_HITS_MAX));
  const [only, ...others] = hits;
  const timeline = only === undefined || others.length > 0 ? null : await timelineOfMessage(db, organizationId, only);
  return { understoodAs, hits, more: newest.length > ACTIVITY_HITS_MAX, complete, timeline, notDelivered };
}

const DAY_MS = 24 * 60 * 60 * 1_000;

function findNotDelivered(db: Sql, organizationId: string, q: string, nowMs: number): Promise<NotDeliveredRow[]> {
  const kept = { since: new Date(nowMs - MAIL_REFUSAL_RETENTION_DAYS * DAY_MS), until: new Date(nowMs + DAY_MS) };
  const period = typedPeriod(q);
  const text = q.toLowerCase();
  const keys = [...new Set([text, isEmailAddress(text) ? deliveryAddress(text) : text])];
  return period === undefined
    ? mailNotDelivered(db, organizationId, keys, kept, ACTIVITY_NOT_DELIVERED_MAX)
    : mailNotDelivered(
        db,
        organizationId,
        null,
        // What is older may wait for its deletion.
        { since: period.since > kept.since ? period.since : kept.since, until: period.until },
        ACTIVITY_NOT_DELIVERED_MAX,
      );
}

async function findMessages(
  db: Database,
  organizationId: string,
  kind: Exclude<ActivityKind, 'event' | 'delivery'>,
  q: string,
  refHash: (messageIdHeader: string) => string,
): Promise<Found> {
  const limit = ACTIVITY_HITS_MAX + 1;
  switch (kind) {
    case 'message':
      return { ids: [q], complete: true };
    case 'consent': {
      const messageId = await messageOfConsent(db, organizationId, q);
      return { ids: messageId === undefined ? [] : [messageId], complete: true };
    }
    case 'message_id_header':
      return { ids: await messagesWithMessageId(db, organizationId, refHash(q), q, limit), complete: true };
    case 'address': {
      const address = q.toLowerCase();
      const [own, sent, named] = await Promise.all([
        messagesOfMailbox(db, organizationId, address, limit),
        messagesToAddress(db, organizationId, address, limit),
        messagesWithWords(db, organizationId, `"${address}"`, limit),
      ]);
      return { ids: [...own, ...sent, ...(named ?? [])], complete: named !== undefined };
    }
    case 'time': {
      const period = typedPeriod(q);
      return {
        ids: period === undefined ? [] : await messagesWithin(db, organizationId, period, limit),
        complete: true,
      };
    }
    case 'refusal':
      return { ids: [], complete: true };
    case 'words': {
      const named = await messagesWithWords(db, organizationId, q, limit);
      return { ids: named ?? [], complete: named !== undefined };
    }
  }
}

function kindOf(q: string): ActivityKind {
  for (const kind of ['message', 'event', 'delivery', 'consent'] as const) if (isId(kind, q)) return kind;
  if (/^<[^<>\s]+>$/.test(q)) return 'message_id_header';
  if (isId('mailRefusal', q)) return 'refusal';
  if (typedPeriod(q) !== undefined) return 'time';
  return isEmailAddress(q) ? 'address' : 'words';
}

const nothing = (understoodAs: ActivityKind): Activity => ({
  understoodAs,
  hits: [],
  more: false,
  complete: true,
  timeline: null,
  notDelivered: [],
});

async function activityOfEvent(
  db: Sql,
  organizationId: string,
  event: EventRow,
  understoodAs: ActivityKind,
): Promise<Activity> {
  const hits = event.messageId === null ? [] : await messageHits(db, organizationId, [event.messageId]);
  const [message] = hits;
  if (message !== undefined) {
    const timeline = await timelineOfMessage(db, organizationId, message);
    // An example event refers to no real message, and an event beyond the limit is not listed with its message.
    if (timeline.entries.some(({ eventId }) => eventId === event.id))
      return { ...nothing(understoodAs), hits, timeline };
  }
  const { entries, truncated } = await eventEntries(db, organizationId, [event]);
  const timeline = { message: null, entries: entries.toSorted(byTime), truncated };
  return { ...nothing(understoodAs), timeline };
}

async function timelineOfMessage(db: Sql, organizationId: string, message: MessageHitRow): Promise<ActivityTimeline> {
  const { id } = message;
  const [stored, submitted, events] = await Promise.all([
    storedRow(db, organizationId, id),
    submittedRow(db, organizationId, id),
    eventsOfMessage(db, organizationId, id, ACTIVITY_ROWS_MAX),
  ]);
  const happened = await eventEntries(db, organizationId, events);
  const entries = [...happened.entries];
  let truncated = happened.truncated || events.length === ACTIVITY_ROWS_MAX;
  if (stored !== undefined) entries.unshift(...storedEntries(stored, { id, mailbox: message.mailboxAddress }));
  if (submitted !== undefined) {
    const [sending, consents] = await Promise.all([
      sendingRows(db, id, ACTIVITY_ROWS_MAX),
      consentRows(db, organizationId, id),
    ]);
    entries.unshift(...sendingEntries(id, { submitted, consents, ...sending }));
    truncated ||= [sending.attempts, sending.recipients].some(({ length }) => length === ACTIVITY_ROWS_MAX);
  }
  return { message, entries: entries.toSorted(byTime), truncated };
}

async function eventEntries(
  db: Sql,
  organizationId: string,
  events: readonly EventRow[],
): Promise<{ entries: ActivityEntry[]; truncated: boolean }> {
  const deliveries = await deliveriesOfEvents(
    db,
    organizationId,
    events.map(({ id }) => id),
    ACTIVITY_ROWS_MAX,
  );
  const attempts = await attemptsOfDeliveries(
    db,
    deliveries.map(({ id }) => id),
    ACTIVITY_ROWS_MAX,
  );
  const entries = events.flatMap((event) => {
    const own = deliveries.filter(({ eventId }) => eventId === event.id);
    return [
      eventEntry(event, own.length),
      ...own.flatMap((delivery) =>
        deliveryEntries(
          event,
          delivery,
          attempts.filter(({ deliveryId }) => deliveryId === delivery.id),
        ),
      ),
    ];
  });
  return { entries, truncated: [deliveries, attempts].some(({ length }) => length === ACTIVITY_ROWS_MAX) };
}
