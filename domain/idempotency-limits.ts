/** Numbers of the `Idempotency-Key` header. */
export const IDEMPOTENCY_KEY_MAX_LENGTH = 256;
/** A key and its answer are kept this long. */
export const IDEMPOTENCY_KEY_LIFE_HOURS = 24;
/** A replay shows the secrets of the first answer within this time of it only. */
export const IDEMPOTENCY_SECRETS_MINUTES = 10;
/** A request that has not answered by then has died with its process; the same request may take its key over. */
export const IDEMPOTENCY_TAKE_OVER_MINUTES = 5;
