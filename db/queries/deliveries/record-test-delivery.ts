import type { Sql } from '#db/database.ts';
import type { EventType } from '#domain/webhooks/event-types.ts';

export interface TestDeliveryInsert {
  readonly eventId: string;
  /** Made in the same millisecond as the event's id. */
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly type: EventType;
  readonly payload: string;
  readonly occurredAt: Date;
}

const RECORD = /* sql */ `
  with stored as (
    insert into events (id, organization_id, mailbox_id, type, payload, occurred_at) values ($1, $4, $5, $6, $7, $8)
  )
  insert into deliveries (id, event_id, endpoint_id, organization_id, mailbox_id, event_type, created_at)
  values ($2, $1, $3, $4, $5, $6, $8)`;

/** Writes an event for one endpoint only, whatever other endpoints subscribed to its type. */
export async function recordTestDelivery(sql: Sql, insert: TestDeliveryInsert): Promise<void> {
  await sql.query(RECORD, [
    insert.eventId,
    insert.deliveryId,
    insert.endpointId,
    insert.organizationId,
    insert.mailboxId,
    insert.type,
    insert.payload,
    insert.occurredAt,
  ]);
}
