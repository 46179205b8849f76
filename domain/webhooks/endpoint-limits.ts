/**
 * Fields of a webhook endpoint: their lengths in characters, and which header it may ask for (interface §4, rule 3).
 */

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

export const AUTH_HEADER_NAME_MAX = 128;
export const AUTH_HEADER_VALUE_MAX = 4_096;

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
