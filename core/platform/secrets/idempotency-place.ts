/** Place under which the whole answer of a POST with Idempotency-Key is sealed (see `core/platform/secrets/sealed-secrets.ts`). */
export const idempotencyAnswerPlace = (principal: string, key: string): string =>
  `idempotency_keys:body_sealed:${principal}:${key}`;
