/** Numbers of the `Idempotency-Key` header. */
export const IDEMPOTENCY_KEY_MAX_LENGTH = 256;
/** Retention of a key and its answer. */
export const IDEMPOTENCY_KEY_LIFE_HOURS = 24;
/** A replay shows the secrets of the first answer within this time of it only. */
export const IDEMPOTENCY_SECRETS_MINUTES = 10;
