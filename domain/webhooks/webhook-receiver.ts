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
