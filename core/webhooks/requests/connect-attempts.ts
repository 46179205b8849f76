/** How a host with several addresses is connected to: one address after another, each for a part of the time. */
import {
  CONNECT_ADDRESSES_MAX,
  CONNECT_ATTEMPT_MAX_MS,
  CONNECT_ATTEMPT_MIN_MS,
} from '#domain/webhooks/delivery-limits.ts';
import type { DestinationAddress } from './destination-guard.ts';

export interface ConnectAttempts {
  readonly addresses: readonly DestinationAddress[];
  /** How long each of them is tried before the next one; the last one for what is left. */
  readonly attemptMs: number;
}

const FAMILIES = [4, 6] as const;

/**
 * Chooses the first addresses of each family, in their order, and divides the time among those of a family. A name can
 * have thousands of addresses, of anybody: all of them are checked, but no request tries all of them. The families are
 * not added up: without IPv6 on this machine its addresses fail at once and take no time.
 *
 * @param withinMs limit of all attempts together
 */
export function connectAttempts(checked: readonly DestinationAddress[], withinMs: number): ConnectAttempts {
  const fitting = Math.max(1, Math.floor(withinMs / CONNECT_ATTEMPT_MIN_MS));
  const families = FAMILIES.map((wanted) =>
    checked.filter(({ family }) => family === wanted).slice(0, Math.min(CONNECT_ADDRESSES_MAX, fitting)),
  );
  const tried = new Set(families.flat());
  const attemptMs = Math.floor(withinMs / Math.max(1, ...families.map(({ length }) => length)));
  return {
    addresses: checked.filter((address) => tried.has(address)),
    attemptMs: Math.min(CONNECT_ATTEMPT_MAX_MS, Math.max(CONNECT_ATTEMPT_MIN_MS, attemptMs)),
  };
}
