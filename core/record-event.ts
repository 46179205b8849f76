import type { Sql } from '../db/database.ts';
import { recordEventRows, recordMoreDeliveries } from '../db/queries/record-events.ts';
import type { Actor, EnvelopeMailbox, EnvelopeOrganization } from '../domain/event-envelope.ts';
import { EVENT_SCOPES, type EventType } from '../domain/event-types.ts';
import { firstIdAt } from '../domain/ids.ts';
import { eventPayload } from './event-payload.ts';
import { newId } from './new-id.ts';

/** Something that happened, before it has an id. */
export interface NewEvent {
  readonly type: EventType;
  readonly organization: EnvelopeOrganization;
  /** The mailbox it happened in; null when it has none. */
  readonly mailbox: EnvelopeMailbox | null;
  readonly actor: Actor;
  /** By type, see the schemas in `api/webhooks/event-schemas.ts`. */
  readonly data: object;
  /** Default: now. */
  readonly occurredAt?: Date;
}

/** Most events match few endpoints: ids for so many are made ahead, and one statement is enough. */
const DELIVERY_IDS_AHEAD = 4;

/**
 * Records events and the deliveries owed for them. Call it in the transaction of the change that caused them, and
 * `services.deliveriesDue.nudge()` after the commit.
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
    return { event, id, timeMs, occurredAt, payload: eventPayload(envelope) };
  });
  const inserts = (idsEach: number) =>
    prepared.map(({ event, id, timeMs, occurredAt, payload }) => ({
      id,
      organizationId: event.organization.id,
      mailboxId: event.mailbox?.id ?? null,
      type: event.type,
      payload,
      occurredAt,
      mailboxScope: EVENT_SCOPES[event.type].mailbox,
      deliveryIds: Array.from({ length: idsEach }, () => newId('delivery', timeMs)),
    }));
  const { created, most } = await recordEventRows(sql, inserts(DELIVERY_IDS_AHEAD));
  if (most <= DELIVERY_IDS_AHEAD) return created;
  const times = prepared.map(({ timeMs }) => timeMs);
  const from = firstIdAt('delivery', Math.min(...times));
  const to = firstIdAt('delivery', Math.max(...times) + 1);
  return created + (await recordMoreDeliveries(sql, inserts(most), from, to));
}
