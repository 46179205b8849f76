/**
 * Limits new connections to one origin when many requests start at the same time, without letting hanging requests
 * block the others: many organizations may have endpoints on the same host.
 *
 *   wait for one of 64 places ──▶ in flight ──▶ answered, or a second has passed ──▶ the place is free
 *
 * So at most 64 requests younger than a second are in flight to an origin. The number of older ones is limited by the
 * endpoints' slots (`activities/endpoint-slots.ts`).
 *
 * Retries, and first attempts at endpoints known to be slow, have 24 of the places: when many endpoints of one host
 * hang, their requests time out and start again together, and would take all places for seconds.
 */
import { semaphoreByKey } from '#core/platform/batching/semaphore.ts';

export interface OriginGate {
  /**
   * Waits for a place.
   *
   * @param isRetry of an endpoint that was in trouble
   * @returns a function that frees it; must be called when the request has ended. Undefined: closed, no request may
   * start
   */
  enter(origin: string, isRetry?: boolean): Promise<(() => void) | undefined>;
  /** Closes the gate: callers that wait now or come later get no place. */
  close(): void;
}

const YOUNG_REQUESTS_MAX = 64;
const YOUNG_RETRIES_MAX = 24;
const YOUNG_MS = 1_000;

export function originGate(): OriginGate {
  const places = semaphoreByKey(YOUNG_REQUESTS_MAX);
  const retryPlaces = semaphoreByKey(YOUNG_RETRIES_MAX);
  const closing = new AbortController();
  const until = closing.signal;
  return {
    async enter(origin, isRetry = false) {
      const leaveRetries = isRetry ? await retryPlaces.takeWithin(origin, { until }) : () => {};
      if (leaveRetries === undefined) return undefined;
      const leavePlaces = await places.takeWithin(origin, { until });
      if (leavePlaces === undefined) {
        leaveRetries();
        return undefined;
      }
      const release = () => {
        leaveRetries();
        leavePlaces();
      };
      const timer = setTimeout(release, YOUNG_MS);
      return () => {
        clearTimeout(timer);
        release();
      };
    },
    close: () => closing.abort(),
  };
}
