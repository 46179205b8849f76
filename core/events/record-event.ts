import { newId } from '#core/platform/new-id.ts';
import { keepEventContexts } from '#core/platform/tracing/kept-context.ts';
import { isTracing } from '#core/platform/tracing/trace.ts';
import type { Sql } from '#db/database.ts';
import { recordEventRows, recordMoreDeliveries } from '#db/queries/events/record-events.ts';
import { firstIdAt, isId } from '#domain/ids.ts';
import { PAYLOAD_LIMIT_BYTES } from '#domain/webhooks/delivery-limits.ts';
import {
  type Actor,
  type EnvelopeMailbox,
  type EnvelopeOrganization,
  EVENT_SCOPES,
  type EventEnvelope,
  type EventType,
} from '#domain/webhooks/event-types.ts';

/** Steps of shortening: maximum lengths of strings and lists. The last step makes any input fit. */
const STEPS = [
  { characters: 8_192, items: 500 },
  { characters: 1_024, items: 100 },
  { characters: 128, items: 20 },
  { characters: 32, items: 3 },
] as const;

/**
 * The text of an event as it is stored, signed and sent. Above 256 KiB the fields of `data` are shortened one after
 * another and `truncated: true` is added; `messageId` and the message's path in the API give access to the rest.
 *
 * @param reservedBytes that are added to it for some endpoints
 */
export function eventPayload(envelope: EventEnvelope<object>, reservedBytes = 0): string {
  const text = JSON.stringify(envelope);
  const limitBytes = PAYLOAD_LIMIT_BYTES - reservedBytes;
  // A UTF-16 unit takes at most 3 bytes, so most payloads need no count.
  if (text.length * 3 <= limitBytes || Buffer.byteLength(text) <= limitBytes) return text;
  let shortened = text;
  for (const step of STEPS) {
    const data = { ...(shorten(envelope.data, step.characters, step.items) as object), ...whereTheRestIs(envelope) };
    shortened = JSON.stringify({ ...envelope, data });
    if (Buffer.byteLength(shortened) <= limitBytes) break;
  }
  return shortened;
}

function whereTheRestIs(envelope: EventEnvelope<object>): object {
  const messageId = 'messageId' in envelope.data ? envelope.data.messageId : undefined;
  const mailbox = envelope.mailbox === null ? undefined : `/api/mailboxes/${envelope.mailbox.id}`;
  const full = typeof messageId === 'string' && mailbox !== undefined ? `${mailbox}/messages/${messageId}` : mailbox;
  return { truncated: true, ...(full === undefined ? {} : { full }) };
}

function shorten(value: unknown, characters: number, items: number): unknown {
  if (typeof value === 'string')
    return value.length > characters ? `${value.slice(0, characters).toWellFormed()}…` : value;
  if (Array.isArray(value)) return value.slice(0, items).map((item) => shorten(item, characters, items));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, Math.max(items, 50))
      .map(([key, field]) => [key, shorten(field, characters, items)]),
  );
}

/** Something that happened, before it has an id. */
export interface NewEvent {
  readonly type: EventType;
  readonly organization: EnvelopeOrganization;
  /** The mailbox it happened in; null when it has none. */
  readonly mailbox: EnvelopeMailbox | null;
  readonly actor: Actor;
  /** By type, see the schemas in `api/webhooks/event-schemas.ts`. */
  readonly data: object;
  /** Codes and links of the message, for endpoints that ask for them: `data.extracts`. Only with data that has fields. */
  readonly extracts?: object;
  /** Default: now. */
  readonly occurredAt?: Date;
  /** `traceparent` of the span in which it happened. Default: the current one. */
  readonly traceContext?: string | undefined;
}

/** Most events match few endpoints: ids for so many are made ahead, and one statement is enough. */
const DELIVERY_IDS_AHEAD = 4;
const EXTRACTS_NAME_BYTES = ',"extracts":'.length;

/** The message that the data of an event names; null: none. */
function messageIdOf(data: object): string | null {
  const id: unknown = Reflect.get(data, 'messageId');
  return typeof id === 'string' && isId('message', id) ? id : null;
}

/**
 * Records events and their deliveries. Call it in the transaction of the change that caused them, and
 * `services.deliveriesDue.wake()` after the commit if some of them wait. The others have been taken by a fast lane of
 * this process, which makes their first attempts after the commit.
 *
 * No subscriber, or a plan without webhooks: the event row alone, and nothing for the types that are recorded for
 * subscribers only.
 *
 * @returns number of deliveries that wait for a claim
 */
export async function recordEvents(sql: Sql, events: readonly NewEvent[]): Promise<number> {
  if (events.length === 0) return 0;
  const prepared = events.map((event) => {
    const occurredAt = event.occurredAt ?? new Date();
    // An event and its deliveries share the time in their ids, hence the day's partition.
    const timeMs = Date.now();
    const id = newId('event', timeMs);
    const envelope = {
      id,
      type: event.type,
      occurredAt: occurredAt.toISOString(),
      organization: event.organization,
      mailbox: event.mailbox,
      actor: event.actor,
      data: event.data,
    };
    const extracts = event.extracts === undefined ? null : JSON.stringify(event.extracts);
    const payload = eventPayload(envelope, extracts === null ? 0 : Buffer.byteLength(extracts) + EXTRACTS_NAME_BYTES);
    return { event, id, timeMs, occurredAt, payload, extracts };
  });
  const inserts = (idsEach: number) =>
    prepared.map(({ event, id, timeMs, occurredAt, payload, extracts }) => ({
      id,
      organizationId: event.organization.id,
      mailboxId: event.mailbox?.id ?? null,
      type: event.type,
      messageId: messageIdOf(event.data),
      payload,
      extracts,
      occurredAt,
      mailboxScope: EVENT_SCOPES[event.type].mailbox,
      deliveryIds: Array.from({ length: idsEach }, () => newId('delivery', timeMs)),
    }));
  // Awaited only then: statements of one turn leave in one write.
  if (isTracing())
    await keepEventContexts(
      sql,
      prepared.map(({ event, id }) => ({
        id,
        type: event.type,
        organizationId: event.organization.id,
        mailboxId: event.mailbox?.id ?? null,
        context: event.traceContext,
      })),
    );
  const organizationIds = [...new Set(events.map(({ organization }) => organization.id))];
  const lease = sql.leaseDirectly?.(organizationIds);
  const { leased, untaken, most } = await recordEventRows(sql, inserts(DELIVERY_IDS_AHEAD), lease);
  lease?.wrote(leased, untaken);
  if (most <= DELIVERY_IDS_AHEAD) return untaken.length;
  const times = prepared.map(({ timeMs }) => timeMs);
  const from = firstIdAt('delivery', Math.min(...times));
  const to = firstIdAt('delivery', Math.max(...times) + 1);
  let owed = untaken.length;
  // Endpoints may be added between two statements: until every one has its row.
  for (let ids = most; ; ) {
    const more = await recordMoreDeliveries(sql, inserts(ids), from, to);
    owed += more.created;
    if (more.most <= ids) return owed;
    ids = more.most;
  }
}
