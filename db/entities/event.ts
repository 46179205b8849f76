import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { EVENT_TYPES } from '../../domain/event-types.ts';

/** Something that happened, with the immutable bytes every delivery of it sends. Partitioned by day through its id. */
export const Event = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    mailboxId: p.text().nullable(),
    type: p.enum(EVENT_TYPES),
    /** The JSON text that is signed and sent, byte for byte. */
    payload: p.text(),
    occurredAt: p.datetime(),
  },
});
export type EventRow = InferEntity<typeof Event>;
