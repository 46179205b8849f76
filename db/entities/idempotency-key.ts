import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A POST that carried an Idempotency-Key and its answer, kept for 24 hours. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    /** Who sent it, e.g. `api_key:key_…`. */
    principal: p.text().primary(),
    key: p.text().primary(),
    /** SHA-256 over method, path and body. */
    requestHash: p.blob(),
    /** Null while the first request runs. */
    status: p.smallint().nullable(),
    headers: p.json<Record<string, string>>().nullable(),
    /** The answer with its secrets replaced by null. */
    body: p.text().nullable(),
    /** The whole answer, sealed; used within ten minutes only. */
    bodySealed: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
export type IdempotencyKeyRow = InferEntity<typeof IdempotencyKey>;
