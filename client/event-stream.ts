import { ApiError } from './api-error.ts';
import { type CallOptions, type HttpRequest, type HttpTransport, pause } from './http.ts';

export interface StreamOptions extends Pick<CallOptions, 'signal'> {
  /** Continue after this event: nothing that happened since is missed. Default: from now on. */
  readonly lastEventId?: string;
}

interface StreamEvent {
  readonly name: string;
  readonly id: string | null;
  readonly data: unknown;
}

/** A block of the stream: an event, or only the place up to which the client has everything. */
interface Block {
  readonly id: string | null;
  readonly event: StreamEvent | undefined;
}

const RECONNECT_MIN_MS = 1_000;
const RECONNECT_MAX_MS = 30_000;
/** The service writes a comment every 15 s: a connection that is silent for longer is broken. */
const SILENT_MAX_MS = 40_000;

/**
 * Server-sent events, across lost connections: each new one continues after the last event. It ends when the signal
 * aborts, or after `closed`.
 *
 * @throws {ApiError} when the service refuses the stream
 */
export async function* followStream<Event extends StreamEvent>(
  http: HttpTransport,
  request: HttpRequest,
  { signal, lastEventId }: StreamOptions,
): AsyncGenerator<Event, void, undefined> {
  let lastId = lastEventId;
  let waitMs = RECONNECT_MIN_MS;
  while (signal?.aborted !== true) {
    const broken = new AbortController();
    const stop = signal === undefined ? broken.signal : AbortSignal.any([signal, broken.signal]);
    try {
      const headers = { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) };
      const { body } = await http.stream({ ...request, headers, options: { signal: stop } });
      if (body === null) continue;
      waitMs = RECONNECT_MIN_MS;
      for await (const { id, event } of blocksOf(body, broken)) {
        // The service sends a place before the first event, so that nothing is missed if the connection breaks then.
        lastId = id ?? lastId;
        if (event === undefined) continue;
        // The types are those of the document; the service wrote the event.
        yield event as Event;
        if (event.name === 'closed') return;
      }
    } catch (error) {
      if (isFinal(error)) throw error;
    } finally {
      // Also when the reader of the events stops in their midst.
      broken.abort();
    }
    await pause(waitMs, signal);
    waitMs = Math.min(RECONNECT_MAX_MS, waitMs * 2);
  }
}

const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.status !== null && error.status < 500 && error.status !== 429;

/** WHATWG HTML §9.2.6, as far as the service writes it. Aborts `broken` when nothing arrives for too long. */
async function* blocksOf(body: ReadableStream<Uint8Array>, broken: AbortController): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let text = '';
  try {
    for (;;) {
      clearTimeout(timer);
      timer = setTimeout(() => broken.abort(), SILENT_MAX_MS);
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const block = blockOf(text.slice(0, end));
        text = text.slice(end + 2);
        yield block;
      }
    }
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => {});
  }
}

function blockOf(text: string): Block {
  const lines = text.split('\n');
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const [name, id] = [field('event'), field('id') ?? null];
  return { id, event: name === undefined ? undefined : { name, id, data: JSON.parse(field('data') ?? 'null') } };
}
