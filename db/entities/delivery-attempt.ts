import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ATTEMPT_ERRORS, ATTEMPT_TRIGGERS } from '../../domain/delivery-status.ts';

/** One request to an endpoint and what came of it. Immutable. */
export const DeliveryAttempt = defineEntity({
  name: 'DeliveryAttempt',
  tableName: 'delivery_attempts',
  properties: {
    deliveryId: p.text().primary(),
    number: p.smallint().primary(),
    trigger: p.enum(ATTEMPT_TRIGGERS),
    startedAt: p.datetime(),
    durationMs: p.integer(),
    responseCode: p.smallint().nullable(),
    error: p.enum(ATTEMPT_ERRORS).nullable(),
    responseHeaders: p.json<Record<string, string>>().nullable(),
    responseBody: p.blob().nullable(),
    remoteAddress: p.text().nullable(),
  },
});
export type DeliveryAttemptRow = InferEntity<typeof DeliveryAttempt>;
