/** Maximum lengths of the fields of a webhook endpoint, in characters. */
export const ENDPOINT_URL_MAX = 2_048;
export const ENDPOINT_DESCRIPTION_MAX = 500;

/** An endpoint that has acknowledged nothing for so long and gave up so many deliveries is set inactive. */
export const FAILING_AFTER_MS = 5 * 86_400_000;
export const FAILING_EXHAUSTED_MIN = 20;
