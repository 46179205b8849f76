/** What streams of server-sent events (WHATWG HTML §9.2) have in common. */
import { Readable } from 'node:stream';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { CatalogueError } from '#domain/errors.ts';
import { STUCK_READER_TIMEOUT_MS } from '#domain/mail/mail-limits.ts';
import { asCatalogueError } from './error-response.ts';

/** A client that lost its connection reconnects after this. */
const RECONNECT_MS = 2_000;

/** Sent first, so that a client that loses the connection before any event continues from here. */
export const streamBegin = (id: string | number): string => `retry: ${RECONNECT_MS}\nid: ${id}\n: watching\n\n`;

/** @param id null: none, so after a lost connection the event is repeated */
export const eventText = (name: string, data: unknown, id: string | number | null): string =>
  `event: ${name}\n${id === null ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

/** The last event of a stream that failed: the error that a request would get now. */
export function closedText(error: unknown, log: Logger, failed: string): string {
  const { code, message } = asCatalogueError(error);
  if (code === 'internal_error') log.error({ reason: reasonOf(error) }, failed);
  return eventText('closed', { code, message }, null);
}

/** About `Last-Event-ID`. */
export const unknownEventId = (): CatalogueError =>
  new CatalogueError('invalid_request', undefined, {
    details: [{ path: 'header/last-event-id', message: 'must be the id of an event of this stream' }],
  });

/**
 * The body of the answer. The reader pulls: the next event is made when the previous one has been written to the
 * connection. One that reads nothing for minutes has disappeared, and is dropped.
 */
export function eventStream(events: AsyncGenerator<string>, onClose: () => void): Readable {
  const output = takenInTime(events, () => stream.destroy());
  // One byte of buffer.
  const stream: Readable = Readable.from(output, { objectMode: false, highWaterMark: 1 });
  stream.once('close', onClose);
  return stream;
}

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
