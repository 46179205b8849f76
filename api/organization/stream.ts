/**
 * The changes of an organization as server-sent events (WHATWG HTML §9.2), for pages that show it: names and ids, no
 * content. The id of an event is a position in the order of all changes, so a client that reconnects with
 * Last-Event-ID, to any process, continues there; it may see a change twice, but misses none.
 *
 * Changes between two events of a stream are merged into one event per thing. A slow reader costs a bounded set of
 * names.
 */
import type { Readable } from 'node:stream';
import { authenticate } from '#api/auth/authenticate.ts';
import { authorize } from '#api/auth/authorize.ts';
import { closedText, eventStream, streamBegin, unknownEventId } from '#api/http/event-stream.ts';
import { principalKey, reachOf } from '#api/http/principal.ts';
import type { AuthRule, UntypedRequest } from '#api/http/route.ts';
import {
  type ChangesRead,
  changesHub,
  changesId,
  type OrganizationChange,
  presentPlace,
  readChanges,
} from '#core/organizations/organization-changes.ts';
import { readRestoreState } from '#core/platform/settings/restore-state.ts';
import type { Database } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { STREAM_HEARTBEAT_MS } from '#domain/mail/mail-limits.ts';
import {
  ORGANIZATION_CHANGE_IDS_MAX,
  ORGANIZATION_CHANGE_RETENTION_DAYS,
  ORGANIZATION_CHANGES_PENDING_MAX,
  ORGANIZATION_STREAMS_MAX,
  ORGANIZATION_STREAMS_PER_PRINCIPAL_MAX,
} from '#domain/webhooks/organization-stream.ts';
import { changesAfter } from '#mailstore/changes/read-changes.ts';

const DAY_MS = 86_400_000;
/** Changes of one mailbox whose messages are looked up in one query. */
const LOG_ROWS_NAMED = 20;

type StreamRequest = Pick<
  UntypedRequest,
  'services' | 'stopping' | 'headers' | 'onClose' | 'organization' | 'principal'
>;

/** By organization, and by organization and principal. */
const open = new Map<string, number>();

function enter(keys: readonly { readonly key: string; readonly max: number }[]): () => void {
  for (const { key, max } of keys)
    if ((open.get(key) ?? 0) >= max)
      throw new CatalogueError('rate_limited', `${max} streams of changes are open already.`, {
        retryAfterSeconds: 5,
      });
  for (const { key } of keys) open.set(key, (open.get(key) ?? 0) + 1);
  return () => {
    for (const { key } of keys) {
      const rest = (open.get(key) ?? 1) - 1;
      if (rest > 0) open.set(key, rest);
      else open.delete(key);
    }
  };
}

const nameMessages = (db: Database) => async (mailboxId: string, fromSeq: number) => {
  const changes = await changesAfter(db, mailboxId, fromSeq - 1, LOG_ROWS_NAMED);
  const ids = new Set(changes.flatMap(({ messageIds }) => messageIds));
  return changes.length < LOG_ROWS_NAMED && ids.size <= ORGANIZATION_CHANGE_IDS_MAX ? [...ids] : undefined;
};

/**
 * Opens the stream.
 *
 * @param rule that of the route
 * @throws {CatalogueError} invalid_request about Last-Event-ID; rate_limited
 */
export async function openOrganizationStream(request: StreamRequest, rule: AuthRule): Promise<Readable> {
  const { services, organization, principal, stopping, onClose } = request;
  const organizationId = organization?.id ?? '';
  const known = readLastEventId(request.headers['last-event-id']);
  const leave = enter([
    { key: organizationId, max: ORGANIZATION_STREAMS_MAX },
    { key: `${organizationId} ${principalKey(principal)}`, max: ORGANIZATION_STREAMS_PER_PRINCIPAL_MAX },
  ]);
  const pending = new PendingChanges();
  const hub = changesHub(services, nameMessages(services.db));
  let unsubscribe: (() => void) | undefined;
  let stopped = false;
  const stop = () => {
    if (stopped) return;
    stopped = true;
    unsubscribe?.();
    leave();
    stopping.removeEventListener('abort', stop);
    pending.end();
  };
  onClose(stop);
  stopping.addEventListener('abort', stop);
  try {
    unsubscribe = await hub.subscribe(organizationId, (read) => pending.add(read));
    if (stopped) unsubscribe();
    const begin = known?.place ?? (await presentPlace(services.db));
    const isKept =
      known === undefined ||
      (known.atMs > services.now() - ORGANIZATION_CHANGE_RETENTION_DAYS * DAY_MS &&
        // Places are those of one PostgreSQL server, and a restore takes changes back.
        known.atMs > ((await readRestoreState(services.db))?.at.getTime() ?? 0));
    if (isKept) pending.add(await readChanges(services.db, [{ organizationId, place: begin }]));
    else pending.add({ place: await presentPlace(services.db), changes: [], overflow: true });
    const requireAccess = async () => {
      const { principal: now, organization: active } = await authenticate(services, rule, request.headers);
      authorize(rule, now, undefined);
      if (reachOf(now) !== null) throw new CatalogueError('insufficient_scope');
      if (active?.id !== organizationId) throw new CatalogueError('forbidden');
    };
    const access = { requireAccess, eachTime: principal.kind === 'api_key' };
    return eventStream(events(services, known ?? { place: begin, atMs: services.now() }, pending, access, stop), stop);
  } catch (error) {
    stop();
    throw error;
  }
}

/** See `changesId`. */
function readLastEventId(given: string | readonly string[] | undefined): { place: string; atMs: number } | undefined {
  if (given === undefined || given === '') return undefined;
  const [, place, atMs] = /^(\d{1,20})-(\d{1,15})$/.exec(typeof given === 'string' ? given : '') ?? [];
  if (place !== undefined && BigInt(place) < 2n ** 63n) return { place, atMs: Number(atMs) };
  throw unknownEventId();
}

interface Named {
  readonly kind: OrganizationChange['kind'];
  readonly mailboxId: string | null;
  readonly ids: Set<string>;
  more: boolean;
}

/** Changes that a stream has not sent yet: each thing once, and at most a bounded number. */
class PendingChanges {
  #named = new Map<string, Named>();
  #place = '0';
  #everything = false;
  #ended = false;
  #wake: () => void = () => {};

  add({ place, changes, overflow }: ChangesRead): void {
    if (BigInt(place) > BigInt(this.#place)) this.#place = place;
    if (overflow) this.#everything = true;
    for (const change of changes) this.#note(change);
    if (this.#named.size > ORGANIZATION_CHANGES_PENDING_MAX) this.#everything = true;
    if (this.#everything) this.#named.clear();
    if (this.#everything || this.#named.size > 0) this.#wake();
  }

  #note({ kind, mailboxId, subjectId, messageIds }: OrganizationChange): void {
    const key = `${kind} ${mailboxId}`;
    const named = this.#named.get(key) ?? { kind, mailboxId, ids: new Set<string>(), more: false };
    this.#named.set(key, named);
    const ids = kind === 'messages' ? messageIds : subjectId === null ? [] : [subjectId];
    if (ids === undefined) named.more = true;
    for (const id of ids ?? [])
      if (named.ids.size < ORGANIZATION_CHANGE_IDS_MAX) named.ids.add(id);
      else named.more ||= !named.ids.has(id);
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Waits for a change. @returns `ended`, or `time` when there was none within the time */
  async next(withinMs: number): Promise<'changes' | 'time' | 'ended'> {
    const isDue = () => this.#ended || this.#everything || this.#named.size > 0;
    if (!isDue())
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#wake = () => {};
    return this.#ended ? 'ended' : isDue() ? 'changes' : 'time';
  }

  /** What was added since the last call, and the place up to which nothing is missing once this is sent. */
  take(): { readonly everything: boolean; readonly named: readonly Named[]; readonly place: string } {
    const taken = { everything: this.#everything, named: [...this.#named.values()], place: this.#place };
    this.#everything = false;
    this.#named = new Map();
    return taken;
  }
}

interface Access {
  requireAccess(): Promise<void>;
  /**
   * Before each event: of an API key, which may become limited to groups. The streams of people are many, and their
   * access ends with a change of members, which they report themselves.
   */
  readonly eachTime: boolean;
}

async function* events(
  { log, now }: StreamRequest['services'],
  begin: { readonly place: string; readonly atMs: number },
  pending: PendingChanges,
  { requireAccess, eachTime }: Access,
  stop: () => void,
): AsyncGenerator<string> {
  const idOf = (place: string) => `id: ${changesId(place, now())}\n`;
  // Not the place of what is pending: a client that loses the connection now has received none of it.
  yield streamBegin(changesId(begin.place, begin.atMs));
  let checkedAtMs = performance.now();
  try {
    for (;;) {
      const woken = await pending.next(STREAM_HEARTBEAT_MS);
      if (woken === 'ended') return;
      // Content and place together: what is added while access is checked is for the next event.
      const { everything, named, place } = pending.take();
      // A busy organization is never quiet: the right is checked by the clock. Members and the organization itself: the
      // right to the stream may have ended with the change.
      if (
        woken === 'time' ||
        eachTime ||
        everything ||
        performance.now() - checkedAtMs >= STREAM_HEARTBEAT_MS ||
        named.some(({ kind }) => kind === 'member' || kind === 'api_key')
      ) {
        await requireAccess();
        checkedAtMs = performance.now();
      }
      const reported = everything
        ? [{ name: 'resync', data: { message: 'Too many changes to list: read everything again.' } }]
        : named.map(({ kind, mailboxId, ids, more }) => ({
            name: `${kind}_changed`,
            data: { mailboxId, ids: [...ids], more },
          }));
      if (reported.length === 0) {
        yield `${idOf(place)}: still here\n\n`;
        continue;
      }
      // Only the last one has the id, so a break repeats all of them.
      yield reported
        .map(
          ({ name, data }, i) =>
            `event: ${name}\n${i === reported.length - 1 ? idOf(place) : ''}data: ${JSON.stringify(data)}\n\n`,
        )
        .join('');
    }
  } catch (error) {
    yield closedText(error, log, 'a stream of changes failed');
  } finally {
    stop();
  }
}
