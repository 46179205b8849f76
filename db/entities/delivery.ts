import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { DELIVERY_STATUSES, EXHAUSTED_REASONS } from '../../domain/delivery-status.ts';
import { EVENT_TYPES } from '../../domain/event-types.ts';

/** One event owed to one endpoint; `id` is the `webhook-id` header. Partitioned by day through its id. */
export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'deliveries',
  properties: {
    id: p.text().primary(),
    eventId: p.text(),
    endpointId: p.text(),
    organizationId: p.text(),
    mailboxId: p.text().nullable(),
    eventType: p.enum(EVENT_TYPES),
    status: p.enum(DELIVERY_STATUSES).default('pending'),
    reason: p.enum(EXHAUSTED_REASONS).nullable(),
    attemptCount: p.smallint().default(0),
    maxAttempts: p.smallint().default(5),
    lastError: p.text().nullable(),
    responseCode: p.smallint().nullable(),
    nextAttemptAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    completedAt: p.datetime().nullable(),
    /** Workflow that carried the first attempt; null until the dispatcher has claimed the row. */
    fanOutId: p.text().nullable(),
    /** Workflow that holds the delivery now, or held it last. */
    workflowId: p.text().nullable(),
  },
});
export type DeliveryRow = InferEntity<typeof Delivery>;
