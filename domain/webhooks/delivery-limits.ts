/** Numbers of webhook delivery (interface §4, §6, §8). */

/** One deadline over DNS, connect, TLS and response headers of an attempt. */
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** Of an attempt, TLS included. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** Addresses of a host that are tried, of IPv4 and of IPv6 each. */
export const CONNECT_ADDRESSES_MAX = 4;
/**
 * Of a host with several addresses each is tried for so long, the last one for what is left. Node's 250 ms are less than
 * a round trip to another continent, and one lost packet takes a second: the only address that works would fail.
 */
export const CONNECT_ATTEMPT_MAX_MS = 2_000;
/** The same where the time is short, in which fewer addresses are tried: above the second of a lost packet. */
export const CONNECT_ATTEMPT_MIN_MS = 1_500;
/** Of the reason why no answer came, for people. */
export const FAILURE_REASON_MAX_CHARACTERS = 300;
/** Bytes of the response body that are read and stored with the attempt. */
export const RESPONSE_BODY_LIMIT_BYTES = 16 * 1024;
/** Deliveries list: default and largest page. */
export const DELIVERIES_PAGE_DEFAULT = 50;
export const DELIVERIES_PAGE_MAX = 200;
/** Hours covered by the counts of an endpoint: default and maximum. */
export const STATS_HOURS_DEFAULT = 24;
export const STATS_HOURS_MAX = 720;
/** URL checks of an organization per minute: each queries DNS. */
export const URL_CHECKS_PER_MINUTE = 60;
/** Retention of the delivery history. */
export const DELIVERY_RETENTION_DAYS = 30;
/** Payloads above this are cut field by field and marked `truncated`. */
export const PAYLOAD_LIMIT_BYTES = 256 * 1024;
/** Concurrent requests to one endpoint, per worker. */
export const ENDPOINT_CONCURRENCY = 10;
/** Deliveries one fan-out workflow carries at most. */
export const FAN_OUT_BATCH_MAX = 500;
/** Burst: seconds of its plan's delivery rate that an organization may use at once. */
export const DELIVERY_BURST_SECONDS = 10;
/** A delivery not final and overdue by this is started again by the sweep. */
export const OVERDUE_SWEEP_AFTER_MS = 120_000;
/** Time after a slow or failed request during which a worker considers an endpoint in trouble. */
export const ENDPOINT_TROUBLE_MS = 10_000;
/** First attempts at a slow endpoint gather for so long, to go together, and up to the spread longer. */
export const TROUBLED_GATHER_MS = 2_000;
export const TROUBLED_GATHER_SPREAD_MS = 2_000;
/** A worker that makes first attempts shows a sign of life this often. */
export const LANE_SIGN_MS = 500;
/** A worker without a sign loses its leases after this time, if another worker has written its signs throughout. */
export const LANE_VALID_MS = 2_500;
/** Signs that are further apart than this are interrupted, and do not end the leases of others. */
export const LANE_GAP_MS = 1_500;
/** Deliveries of so much time are carried by one workflow, beside or after their first attempts. */
export const CARRY_GATHER_MS = 1_000;
/** Workflows make first attempts that no worker has taken after this time; sooner where no worker shows a sign of life. */
export const UNTAKEN_AFTER_MS = 15_000;
/**
 * Attempts whose worker has shown no sign of life to the engine for this time go to another one. Longer for a single
 * endpoint: there are many when endpoints hang, and each heartbeat is a write of the engine.
 */
export const HEARTBEAT_TIMEOUT_MS = 6_000;
export const ENDPOINT_HEARTBEAT_TIMEOUT_MS = 15_000;
/** During a secret rotation both signatures are sent for this long at most. */
export const SECRET_OVERLAP_MAX_SECONDS = 86_400;

/** Headers of a delivery request. */
export const EVENT_HEADER = 'X-Service-Event';
export const DELIVERY_USER_AGENT = 'Service-Webhooks/1.0';
export const WEBHOOK_SECRET_PREFIX = 'whsec_';
/** Random bytes of a signing secret (Standard Webhooks 1.0: 24 to 64). */
export const WEBHOOK_SECRET_BYTES = 32;

/** Of Ed25519 keys in their text form (Standard Webhooks 1.0). */
export const WEBHOOK_PUBLIC_KEY_PREFIX = 'whpk_';
export const WEBHOOK_PRIVATE_KEY_PREFIX = 'whsk_';
/** After a rotation the former key pair signs too for this time, unless another is asked for: key sets are cached. */
export const SIGNING_KEY_OVERLAP_SECONDS = 86_400;
/** How long a receiver may cache a key set. */
export const KEY_SET_CACHE_SECONDS = 300;
/** Keys in a set that is not of one organization. */
export const KEY_SET_MAX_KEYS = 1_000;
/** Codes and links of a message in an event, as JSON; links beyond it are left out. */
export const EVENT_EXTRACTS_LIMIT_BYTES = 16 * 1024;
