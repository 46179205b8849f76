/** Events that the service sends: whether a request is signed, and whether its event has started a workflow. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Older and newer requests are refused, so that a recorded one cannot be sent again later. */
const TOLERANCE_SECONDS = 300;

/**
 * Whether a request is signed by this secret now: Standard Webhooks 1.0, `v1`.
 *
 * @param headers with names in lower case
 * @param body exactly as it arrived
 * @param secret `whsec_…`
 */
export function isSigned(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
  secret: string,
  nowMs: number = Date.now(),
): boolean {
  const [id = '', timestamp = '', signatures = ''] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => String(headers[name] ?? ''),
  );
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  // A public key (whpk_…) must never be taken for a secret.
  const [, encoded] = /^whsec_(.+)$/.exec(secret) ?? [];
  if (encoded === undefined) return false;
  const expected = createHmac('sha256', Buffer.from(encoded, 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest();
  return signatures
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => Buffer.from(each.slice('v1,'.length), 'base64'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

/**
 * Which events have started a workflow, in the memory of this process: n8n (2.40) does not store static data that a
 * webhook changes before it starts an execution. An event is noted when its execution runs, so that one that n8n could
 * not start is not taken for a repetition when the service sends it again.
 */
const REMEMBERED_EVENTS = 500;
/** Ids of the last events, by the key of the endpoint, oldest first. */
const started = new Map<string, Set<unknown>>();

export const hasStarted = (key: string, eventId: unknown): boolean => started.get(key)?.has(eventId) === true;

export function noteStarted(key: string, eventId: unknown): void {
  if (eventId === undefined) return;
  const events = started.get(key) ?? new Set<unknown>();
  started.set(key, events.add(eventId));
  const [oldest] = events;
  if (events.size > REMEMBERED_EVENTS) events.delete(oldest);
}
