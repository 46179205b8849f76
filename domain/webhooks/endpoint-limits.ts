/** Fields of a webhook endpoint: their lengths in characters, and which header it may ask for (interface §4, rule 3). */

/** Maximum lengths of the fields of a webhook endpoint, in characters. */
export const ENDPOINT_URL_MAX = 2_048;
export const ENDPOINT_DESCRIPTION_MAX = 500;

/** An endpoint that has acknowledged nothing for so long and gave up so many deliveries is set inactive. */
export const FAILING_AFTER_MS = 5 * 86_400_000;
export const FAILING_EXHAUSTED_MIN = 20;

/** RFC 9110 §5.6.2: token. */
const HTTP_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 9110 §5.5: field-content without obs-text; no leading or trailing white space. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;

const FORBIDDEN_NAMES = new Set(['host', 'content-type', 'user-agent']);
const FORBIDDEN_PREFIXES = ['webhook-', 'x-forwarded-', 'x-service-'];
/** Names that frame the message or belong to one connection; sending them would break or smuggle requests. */
const FRAMING_NAMES = new Set([
  'connection',
  'content-length',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const AUTH_HEADER_NAME_MAX = 128;
const AUTH_HEADER_VALUE_MAX = 4_096;

/** What is wrong with the name and value of an `authHeader`; undefined: nothing. */
export function authHeaderProblem(header: { name: string; value: string }): string | undefined {
  const name = header.name.toLowerCase();
  if (!HTTP_TOKEN.test(header.name)) return 'the name is not a valid HTTP token (letters, digits and -_.)';
  if (header.name.length > AUTH_HEADER_NAME_MAX) return `the name is longer than ${AUTH_HEADER_NAME_MAX} characters`;
  const prefix = FORBIDDEN_PREFIXES.find((start) => name.startsWith(start));
  if (FORBIDDEN_NAMES.has(name) || FRAMING_NAMES.has(name)) return `the name ${header.name} is reserved`;
  if (prefix !== undefined) return `names that start with ${prefix} are reserved`;
  if (header.value.length > AUTH_HEADER_VALUE_MAX)
    return `the value is longer than ${AUTH_HEADER_VALUE_MAX} characters`;
  if (!HEADER_VALUE.test(header.value)) return 'the value must be visible ASCII characters without surrounding spaces';
  return undefined;
}

/** The receiver that the service has built in, for trying webhooks without a server of one's own. */
export const RECEIVER_LIFE_HOURS = 24;
export const RECEIVER_REQUESTS_MAX = 100;
export const RECEIVER_BODY_MAX_BYTES = 64 * 1024;
/** Requests from the network that one receiver accepts in a minute. */
export const RECEIVER_REQUESTS_PER_MINUTE = 120;
/** Random bytes of its address; 32 characters in base64url. */
export const RECEIVER_TOKEN_BYTES = 24;
const TOKEN_CHARACTERS = 32;

/** Path of a receiver. */
const RECEIVER_PATH = new RegExp(`^/receiver/([A-Za-z0-9_-]{${TOKEN_CHARACTERS}})$`);

export const receiverPath = (token: string): string => `/receiver/${token}`;

/** Whether an address may be that of a receiver of some instance, so that the table must be queried. */
export function mayBeReceiver(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && parsed.search === '' && parsed.hash === '' && RECEIVER_PATH.test(parsed.pathname);
}

/**
 * The result of checking a received request: a valid signature of a delivery to this address; a wrong one, or one of no
 * delivery of the organization; none.
 */
export const SIGNATURE_VERDICTS = ['verified', 'failed', 'unsigned'] as const;
export type SignatureVerdict = (typeof SIGNATURE_VERDICTS)[number];
