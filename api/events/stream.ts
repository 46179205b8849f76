/**
 * The changes of a mailbox as server-sent events (WHATWG HTML §9.2). The id of an event is `change_seq`, so a client
 * that reconnects with Last-Event-ID, to any process, continues where it was; it may see one event twice, but misses
 * none.
 *
 * Access is checked between reading an event and writing it: an announcement (`core/mailboxes/mailbox-logins.ts`) may come
 * later than mail, so it only makes a quiet stream end early.
 *
 * The reader pulls: the log is read only after the previous event is written, so a slow reader costs one event of
 * memory. A reader that reads nothing for minutes is disconnected.
 */
import type { Readable } from 'node:stream';
import Type from 'typebox';
import { closedText, eventStream, eventText, streamBegin, unknownEventId } from '#api/http/event-stream.ts';
import type { AuthRule } from '#api/http/route.ts';
import { closed, dateTime, MessageId, nullable } from '#api/http/schema-parts.ts';
import { ConsentOutcome, presentOutcome } from '#api/messages/decision.ts';
import { noteReading } from '#api/messages/note-reading.ts';
import { presentSummary } from '#api/messages/present.ts';
import { MessageSummary } from '#api/messages/schema.ts';
import { type RequestWatch, type WatchRequest, watchFor } from '#api/watch.ts';
import type { Sql } from '#db/database.ts';
import { STREAM_HEARTBEAT_MS, STREAM_MESSAGES_PER_EVENT_MAX } from '#domain/mail/mail-limits.ts';
import { changesAfter, changesKept, type MailChange } from '#mailstore/changes/read-changes.ts';
import { findMessages, lastChange } from '#mailstore/messages/read-messages.ts';
import { findConsent } from '#sending/consent/find-consents.ts';

/** Rows of the log read at once. */
const CHANGES_AT_ONCE = 20;

const textOf = (name: keyof typeof STREAM_EVENTS, data: unknown, seq: number | null): string =>
  eventText(name, data, seq);

/**
 * Opens the stream.
 *
 * @param rule that of the route
 * @throws {CatalogueError} invalid_request about Last-Event-ID; rate_limited, forbidden as `watchFor`
 */
export async function openStream(request: WatchRequest, rule: AuthRule, mailboxId: string): Promise<Readable> {
  const lastEventId = request.headers['last-event-id'];
  const known = lastEventId === undefined || lastEventId === '' ? null : readLastEventId(lastEventId);
  const watch = await watchFor(request, rule, mailboxId);
  try {
    await watch.requireAccess();
    const { db } = request.services;
    const now = await lastChange(db, mailboxId);
    const resync = known !== null && (await changesKept(db, mailboxId, known)) === 'too-old';
    const begin = known === null || resync ? now : known;
    return eventStream(events(request, watch, mailboxId, begin, resync), () => watch.stop());
  } catch (error) {
    watch.stop();
    throw error;
  }
}

function readLastEventId(given: string | readonly string[]): number {
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return Number(given);
  throw unknownEventId();
}

async function* events(
  request: WatchRequest,
  watch: RequestWatch,
  mailboxId: string,
  begin: number,
  resync: boolean,
): AsyncGenerator<string> {
  const { services, organization } = request;
  const { db, log } = services;
  let seq = begin;
  yield streamBegin(seq);
  if (resync)
    yield textOf(
      'resync',
      {
        message:
          'The changes since Last-Event-ID have been deleted. List the messages again; the stream continues from now.',
      },
      seq,
    );
  try {
    for (;;) {
      for (;;) {
        const changes = await changesAfter(db, mailboxId, seq, CHANGES_AT_ONCE);
        for (const change of changes) {
          const read =
            change.consentId === null
              ? eventsOf(request, mailboxId, change)
              : decisionOf(db, organization?.id ?? '', change, change.consentId);
          for await (const event of read) {
            await watch.requireAccess();
            yield event;
          }
          seq = change.seq;
        }
        if (changes.length < CHANGES_AT_ONCE) break;
      }
      const wake = await watch.next(STREAM_HEARTBEAT_MS);
      if (wake === 'stopped') return;
      if (wake !== 'mail') await watch.requireAccess();
      if (wake === 'time') yield ': still here\n\n';
    }
  } catch (error) {
    yield closedText(error, log, 'an event stream failed');
  } finally {
    watch.stop();
  }
}

/** A decision about held mail: approved with what was changed, denied with its reason, expired, withdrawn. */
async function* decisionOf(
  sql: Sql,
  organizationId: string,
  { seq, occurredAt }: MailChange,
  consentId: string,
): AsyncGenerator<string> {
  const consent = await findConsent(sql, organizationId, consentId);
  const outcome = consent === undefined ? undefined : presentOutcome(consent);
  if (outcome !== undefined) yield textOf('consent_decided', { ...outcome, occurredAt: occurredAt.toISOString() }, seq);
}

/**
 * A change of many messages is sent in portions; only the last one has its id, so after a lost connection all of them
 * are repeated.
 */
async function* eventsOf(request: WatchRequest, mailboxId: string, change: MailChange): AsyncGenerator<string> {
  const { seq, kind, folder, occurredAt, messageIds } = change;
  const about = { folder, occurredAt: occurredAt.toISOString() };
  for (let from = 0; from === 0 || from < messageIds.length; from += STREAM_MESSAGES_PER_EVENT_MAX) {
    const ids = messageIds.slice(from, from + STREAM_MESSAGES_PER_EVENT_MAX);
    const id = from + STREAM_MESSAGES_PER_EVENT_MAX >= messageIds.length ? seq : null;
    if (kind === 'expunged') {
      yield textOf('messages_removed', { ...about, messageIds: ids }, id);
      continue;
    }
    // Messages that were removed since have their own event.
    const stored = await findMessages(request.services.db, mailboxId, ids);
    await noteReading(request, stored);
    const found = new Map(stored.map((message) => [message.id, message]));
    const messages = ids.flatMap((each) => {
      const message = found.get(each);
      return message === undefined ? [] : [presentSummary(message)];
    });
    yield textOf(kind === 'added' ? 'messages_added' : 'messages_changed', { ...about, messages }, id);
  }
}

const changed = {
  folder: nullable(Type.String({ description: 'Its name; null when it is deleted.' })),
  occurredAt: dateTime(),
  messages: Type.Array(MessageSummary, {
    description: 'Their current state. At most 100; more follow in further events.',
  }),
};

/** `data` of each event of the stream, by its name. */
export const STREAM_EVENTS = {
  messages_added: closed(changed, { title: 'MessagesAdded' }),
  messages_changed: closed(changed, { title: 'MessagesChanged' }),
  messages_removed: closed(
    {
      folder: changed.folder,
      occurredAt: changed.occurredAt,
      messageIds: Type.Array(MessageId),
    },
    { title: 'MessagesRemoved' },
  ),
  consent_decided: closed({ ...ConsentOutcome.properties, occurredAt: dateTime() }, { title: 'ConsentDecided' }),
  resync: closed(
    {
      message: Type.String({ description: 'What to do, for an agent to read.' }),
    },
    { title: 'StreamResync' },
  ),
  closed: closed(
    {
      code: Type.String({ description: 'Code of the error that a request would get now.' }),
      message: Type.String(),
    },
    { title: 'StreamClosed' },
  ),
} as const;
