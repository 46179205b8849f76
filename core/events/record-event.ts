import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import { recordEventRows, recordMoreDeliveries } from '#db/queries/events/record-events.ts';
import { firstIdAt, isId } from '#domain/ids.ts';
import {
  type Actor,
  type EnvelopeMailbox,
  type EnvelopeOrganization,
  EVENT_SCOPES,
  type EventType,
} from '#domain/webhooks/event-types.ts';
import { eventPayload } from './event-payload.ts';

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
 * `services.deliveriesDue.wake()` after the commit.
 *
 * No subscriber, or a plan without webhooks: the event row alone.
 *
 * @returns number of delivery rows written
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
  const { created, most } = await recordEventRows(sql, inserts(DELIVERY_IDS_AHEAD));
  if (most <= DELIVERY_IDS_AHEAD) return created;
  const times = prepared.map(({ timeMs }) => timeMs);
  const from = firstIdAt('delivery', Math.min(...times));
  const to = firstIdAt('delivery', Math.max(...times) + 1);
  let owed = created;
  // Endpoints may be added between two statements: until every one has its row.
  for (let ids = most; ; ) {
    const more = await recordMoreDeliveries(sql, inserts(ids), from, to);
    owed += more.created;
    if (more.most <= ids) return owed;
    ids = more.most;
  }
}
