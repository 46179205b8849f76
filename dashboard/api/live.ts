/**
 * Keeps the pages up to date. One stream reports changes of the organization, and the queries about them are repeated. It
 * is closed while the page is hidden, and resumed after the last event when it is shown.
 *
 * Queries do not poll. Only while the stream is disconnected, all queries of the page are repeated every few seconds.
 */
import type { InfiniteData, Query, QueryClient, QueryKey } from '@tanstack/react-query';

/** Changes of one moment are one round of requests, and rounds keep this distance. */
const FIRST_ROUND_AFTER_MS = 100;
const ROUNDS_APART_MS = 2_000;
/** A browser has few connections to one host: hidden pages give theirs back after this time. */
const HIDDEN_FOR_MS = 60_000;
/** How often everything is asked for while the stream is away. */
const AWAY_ROUNDS_APART_MS = 10_000;

interface Change {
  readonly mailboxId: string | null;
  readonly ids: readonly string[];
  readonly more: boolean;
}

const mailboxOf = ({ mailboxId }: Change): QueryKey[] =>
  mailboxId === null
    ? [['mailboxes']]
    : [
        ['mailboxes', 'one', mailboxId],
        ['mailboxes', 'list'],
      ];

/** The queries that a change is about. Lists of mail are kept by the reader, which follows its mailbox itself. */
const QUERIES: Readonly<Record<string, (change: Change) => readonly QueryKey[]>> = {
  messages_changed: (change) => [...mailboxOf(change), ['first-run'], ['activity']],
  mailbox_changed: (change) => [
    ...mailboxOf(change),
    ['mailboxes', 'tokens'],
    ['mailboxes', 'found'],
    ['mailboxes', 'choices'],
    ['first-run'],
  ],
  login_changed: ({ ids }) => [['first-run'], ...ids.map((id): QueryKey => ['mailboxes', 'logins', id])],
  consent_changed: (change) => [
    ['consents', 'count'],
    ['consents', 'pending'],
    ['consents', 'decided'],
    ...change.ids.map((id): QueryKey => ['consents', 'message', id]),
    ['activity'],
    ...mailboxOf(change),
  ],
  outbox_changed: (change) => [['outbox'], ['activity'], ...mailboxOf(change)],
  deliveries_changed: ({ ids, more }) => [
    ['activity'],
    ['webhooks', 'list'],
    ...(more
      ? [['webhooks']]
      : ids.flatMap((id): QueryKey[] => [
          ['webhooks', 'one', id],
          ['webhooks', 'delivery', id],
        ])),
    ['first-run'],
  ],
  recovery_changed: ({ ids, more }) =>
    more ? [['webhooks']] : ids.map((id): QueryKey => ['webhooks', 'one', id, 'recovery']),
  endpoint_changed: () => [['webhooks'], ['first-run']],
  receiver_changed: () => [['receiver']],
  domain_changed: () => [['domains']],
  organization_changed: () => [['organization'], ['session'], ['usage'], ['mailboxes']],
  member_changed: () => [['people'], ['session']],
  api_key_changed: () => [['keys']],
  notice_changed: () => [['notices']],
};

/** Everything that some change is about. */
const FOLLOWED: readonly QueryKey[] = [
  ...new Set(
    Object.values(QUERIES).flatMap((about) => about({ mailboxId: null, ids: [], more: true }).map(([name]) => name)),
  ),
].map((name) => [name]);

/** `meta` of a list that is read as a whole after a change, however many pages of it were loaded. */
export const READ_WHOLE = { readWhole: true };

/** A list with several loaded pages is not requested again as a whole until it is shown again. */
const isShort = ({ state, meta }: Query): boolean => {
  if (meta?.['readWhole'] === true) return true;
  const pages = (state.data as Partial<InfiniteData<unknown>> | undefined)?.pages;
  return !Array.isArray(pages) || pages.length <= 1;
};

/**
 * Follows the changes until the signal aborts.
 *
 * @param organizationId left out: that of the session
 * @param from a position before the first answer about the organization
 */
export function followOrganization(
  queries: QueryClient,
  organizationId: string | undefined,
  from: string,
  signal: AbortSignal,
): void {
  const waiting = new Map<string, QueryKey>();
  const place: StreamPlace = { path: '/api/organization/events/stream', organizationId, lastId: from };
  let timer: number | undefined;
  let nextRoundAt = 0;
  let open: AbortController | undefined;
  let hiddenTimer: number | undefined;
  let awayTimer: number | undefined;

  const round = () => {
    timer = undefined;
    nextRoundAt = performance.now() + ROUNDS_APART_MS;
    const keys = [...waiting.values()];
    waiting.clear();
    for (const queryKey of keys) {
      void queries.invalidateQueries({ queryKey, predicate: isShort });
      void queries.invalidateQueries({ queryKey, predicate: (query) => !isShort(query), refetchType: 'none' });
    }
  };
  const ask = (keys: readonly QueryKey[]) => {
    for (const key of keys) waiting.set(JSON.stringify(key), key);
    timer ??= window.setTimeout(round, Math.max(FIRST_ROUND_AFTER_MS, nextRoundAt - performance.now()));
  };
  const onEvent = ({ name, data }: StreamEvent) => {
    if (name === 'resync') ask([[]]);
    const keys = QUERIES[name]?.(JSON.parse(data) as Change);
    if (keys !== undefined) ask(keys);
  };
  const onState = (isOpen: boolean) => {
    clearInterval(awayTimer);
    awayTimer =
      isOpen || open === undefined ? undefined : window.setInterval(() => ask(FOLLOWED), AWAY_ROUNDS_APART_MS);
  };
  const begin = () => {
    if (open !== undefined || signal.aborted) return;
    open = new AbortController();
    onState(false);
    void followEvents(place, onEvent, open.signal, onState).then((end) => {
      if (end !== 'ended') return;
      clearInterval(awayTimer);
      // The session tells the page why.
      void queries.invalidateQueries({ queryKey: ['session'] });
    });
  };
  const end = () => {
    open?.abort();
    open = undefined;
    clearInterval(awayTimer);
  };
  const onVisibility = () => {
    clearTimeout(hiddenTimer);
    if (document.visibilityState === 'visible') begin();
    else hiddenTimer = window.setTimeout(end, HIDDEN_FOR_MS);
  };
  begin();
  document.addEventListener('visibilitychange', onVisibility);
  signal.addEventListener('abort', () => {
    document.removeEventListener('visibilitychange', onVisibility);
    clearTimeout(timer);
    clearTimeout(hiddenTimer);
    end();
  });
}

export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

const RECONNECT_MIN_MS = 1_000;
const RECONNECT_MAX_MS = 30_000;

/** The service writes a comment every 15 s: a connection that is silent for longer is broken without a word. */
const SILENT_MAX_MS = 40_000;

/** A stream, and where it goes on when it was left. */
interface StreamPlace {
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
