export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

const RECONNECT_MIN_MS = 1_000;
const RECONNECT_MAX_MS = 30_000;

/** The service writes a comment every 15 s: a connection that is silent for longer is broken without a word. */
const SILENT_MAX_MS = 40_000;

/** A stream, and where it goes on when it was left. */
export interface StreamPlace {
  readonly path: string;
  readonly organizationId: string | undefined;
  lastId: string;
}

/**
 * Follows a stream of server-sent events until the signal aborts, and through every break. By `fetch`, because an
 * EventSource cannot name the organization.
 *
 * @param onState called with true when a connection is open, and with false when it is away
 * @returns `ended` when the service does not give it any more (signed out, suspended, deleted): asking again changes
 * nothing
 */
export async function followEvents(
  place: StreamPlace,
  onEvent: (event: StreamEvent) => void,
  signal: AbortSignal,
  onState: (open: boolean) => void = () => {},
): Promise<'ended' | 'aborted'> {
  let waitMs = RECONNECT_MIN_MS;
  while (!signal.aborted) {
    const connection = new AbortController();
    let timer = 0;
    const onBytes = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => connection.abort(), SILENT_MAX_MS);
    };
    try {
      onBytes();
      const response = await fetch(place.path, {
        credentials: 'same-origin',
        signal: AbortSignal.any([signal, connection.signal]),
        headers: {
          ...(place.lastId === '' ? {} : { 'last-event-id': place.lastId }),
          ...(place.organizationId === undefined ? {} : { 'x-organization-id': place.organizationId }),
        },
      });
      if (response.status >= 400 && response.status < 500 && response.status !== 429) return 'ended';
      if (response.ok && response.body !== null) {
        waitMs = RECONNECT_MIN_MS;
        onState(true);
        for await (const { id, ...event } of eventsOf(response.body, onBytes)) {
          if (id !== undefined) place.lastId = id;
          if (event.name !== '') onEvent(event);
          if (event.name === 'closed') return 'ended';
        }
      }
    } catch {
      // The connection broke.
    } finally {
      clearTimeout(timer);
      onState(false);
    }
    await pause(waitMs, signal);
    waitMs = Math.min(RECONNECT_MAX_MS, waitMs * 2);
  }
  return 'aborted';
}

/** WHATWG HTML §9.2.6, as far as this service writes it. */
async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamEvent & { id: string | undefined }> {
  let text = '';
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    text += value;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const field = (name: string) => fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      yield { name: field('event') ?? '', id: field('id'), data: field('data') ?? '' };
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end() {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end);
  });
}
