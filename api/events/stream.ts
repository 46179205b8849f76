/**
 * The changes of a mailbox as server-sent events (WHATWG HTML §9.2). The id of an event is `change_seq`, so a client
 * that comes back with Last-Event-ID, to whatever process, goes on where it was; it may see one event twice, never none.
 *
 * The reader pulls: nothing is read from the log before what was read is written, so a slow one costs one event of
 * memory. One that reads nothing for minutes is dropped.
 */
import { Readable } from 'node:stream';
import type { Sql } from '../../db/database.ts';
import { CatalogueError } from '../../domain/errors.ts';
import {
  STREAM_HEARTBEAT_MS,
  STREAM_MESSAGES_PER_EVENT_MAX,
  STUCK_READER_TIMEOUT_MS,
} from '../../domain/mail-limits.ts';
import { changesAfter, changesKept, type MailChange } from '../../mail/store/read-changes.ts';
import { findMessages, lastChange } from '../../mail/store/read-messages.ts';
import { asCatalogueError } from '../error-response.ts';
import { presentSummary } from '../messages/present.ts';
import type { AuthRule } from '../route.ts';
import { type RequestWatch, type WatchRequest, watchFor } from '../watch.ts';
import type { STREAM_EVENTS } from './schema.ts';

/** Rows of the log read at once. */
const CHANGES_AT_ONCE = 20;
/** A client that lost its connection comes back after this. */
const RECONNECT_MS = 2_000;

type EventName = keyof typeof STREAM_EVENTS;

const eventText = (name: EventName, data: unknown, seq: number | null): string =>
  `event: ${name}\n${seq === null ? '' : `id: ${seq}\n`}data: ${JSON.stringify(data)}\n\n`;

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
    const told = takenInTime(events(request, watch, mailboxId, begin, resync), () => stream.destroy());
    // One byte of buffer: the next event is made when this one has gone to the connection.
    const stream: Readable = Readable.from(told, { objectMode: false, highWaterMark: 1 });
    stream.once('close', () => watch.stop());
    return stream;
  } catch (error) {
    watch.stop();
    throw error;
  }
}

function readLastEventId(given: string | readonly string[]): number {
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return Number(given);
  throw new CatalogueError('invalid_request', undefined, {
    details: [{ path: 'header/last-event-id', message: 'must be the id of an event of this stream' }],
  });
}

async function* events(
  { services }: WatchRequest,
  watch: RequestWatch,
  mailboxId: string,
  begin: number,
  resync: boolean,
): AsyncGenerator<string> {
  const { db, log } = services;
  let seq = begin;
  let lookedAtMs = performance.now();
  const requireAccess = async () => {
    await watch.requireAccess();
    lookedAtMs = performance.now();
  };
  // The id comes first, so that who loses the connection before any change goes on from here.
  yield `retry: ${RECONNECT_MS}\nid: ${seq}\n: watching\n\n`;
  if (resync)
    yield eventText(
      'resync',
      {
        message:
          'The changes since Last-Event-ID are no longer kept. List the messages again; the stream goes on from now.',
      },
      seq,
    );
  try {
    for (;;) {
      for (;;) {
        // A key or session may end without a word on the channel of mailboxes, and a busy mailbox is never quiet.
        if (performance.now() - lookedAtMs >= STREAM_HEARTBEAT_MS) await requireAccess();
        const changes = await changesAfter(db, mailboxId, seq, CHANGES_AT_ONCE);
        for (const change of changes) {
          yield* eventsOf(db, mailboxId, change);
          seq = change.seq;
        }
        if (changes.length < CHANGES_AT_ONCE) break;
      }
      const wake = await watch.next(STREAM_HEARTBEAT_MS);
      if (wake === 'stopped') return;
      if (wake !== 'mail') await requireAccess();
      if (wake === 'time') yield ': still here\n\n';
    }
  } catch (error) {
    const { code, message } = asCatalogueError(error);
    if (code === 'internal_error') log.error({ error: String(error) }, 'an event stream failed');
    yield eventText('closed', { code, message }, null);
  } finally {
    watch.stop();
  }
}

/** A change of many messages is told in portions; only the last one bears its id, so a break repeats all of them. */
async function* eventsOf(sql: Sql, mailboxId: string, change: MailChange): AsyncGenerator<string> {
  const { seq, kind, folder, occurredAt, messageIds } = change;
  const about = { folder, occurredAt: occurredAt.toISOString() };
  for (let from = 0; from === 0 || from < messageIds.length; from += STREAM_MESSAGES_PER_EVENT_MAX) {
    const ids = messageIds.slice(from, from + STREAM_MESSAGES_PER_EVENT_MAX);
    const id = from + STREAM_MESSAGES_PER_EVENT_MAX >= messageIds.length ? seq : null;
    if (kind === 'expunged') {
      yield eventText('messages_removed', { ...about, messageIds: ids }, id);
      continue;
    }
    // What has left the mailbox since is told by an event of its own.
    const found = new Map((await findMessages(sql, mailboxId, ids)).map((message) => [message.id, message]));
    const messages = ids.flatMap((each) => {
      const message = found.get(each);
      return message === undefined ? [] : [presentSummary(message)];
    });
    yield eventText(kind === 'added' ? 'messages_added' : 'messages_changed', { ...about, messages }, id);
  }
}

/** Calls `drop` when what was told is not taken for minutes: such a reader is gone without a word. */
async function* takenInTime(source: AsyncGenerator<string>, drop: () => void): AsyncGenerator<string> {
  for await (const text of source) {
    const timer = setTimeout(drop, STUCK_READER_TIMEOUT_MS);
    try {
      yield text;
    } finally {
      clearTimeout(timer);
    }
  }
}
