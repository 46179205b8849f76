/** Numbers of webhook delivery (interface §4, §6, §8). */

/** One deadline over DNS, connect, TLS and response headers of an attempt. */
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** Bytes of the response body that are read and kept with the attempt. */
export const RESPONSE_BODY_LIMIT_BYTES = 16 * 1024;
/** Deliveries list: default and largest page. */
export const DELIVERIES_PAGE_DEFAULT = 50;
export const DELIVERIES_PAGE_MAX = 200;
/** Delivery history is kept this long. */
export const DELIVERY_RETENTION_DAYS = 30;
/** Payloads above this are cut field by field and marked `truncated`. */
export const PAYLOAD_LIMIT_BYTES = 256 * 1024;
/** Requests under way to one endpoint at the same time, per worker. */
export const ENDPOINT_CONCURRENCY = 10;
/** Deliveries one fan-out workflow carries at most. */
export const FAN_OUT_BATCH_MAX = 500;
/** A delivery not final and overdue by this is started again by the sweep. */
export const OVERDUE_SWEEP_AFTER_MS = 120_000;
/** For so long after a slow or failed request a worker takes an endpoint for one in trouble. */
export const ENDPOINT_TROUBLE_MS = 10_000;
/** First attempts at a slow endpoint gather for so long, to go together. */
export const TROUBLED_GATHER_MS = 2_000;
/** During a secret rotation both signatures are sent for this long at most. */
export const SECRET_OVERLAP_MAX_SECONDS = 86_400;

/** Headers of a delivery request. */
export const EVENT_HEADER = 'X-Service-Event';
export const DELIVERY_USER_AGENT = 'Service-Webhooks/1.0';
export const WEBHOOK_SECRET_PREFIX = 'whsec_';
/** Random bytes of a signing secret (Standard Webhooks 1.0: 24 to 64). */
export const WEBHOOK_SECRET_BYTES = 32;
