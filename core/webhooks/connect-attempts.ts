/** How a host with several addresses is connected to: one address after another, each for a part of the time. */
import { CONNECT_ADDRESSES_MAX, CONNECT_ATTEMPT_MAX_MS, CONNECT_ATTEMPT_MIN_MS } from '#domain/delivery-limits.ts';
import type { DestinationAddress } from './destination-guard.ts';

export interface ConnectAttempts {
  readonly addresses: readonly DestinationAddress[];
  /** How long each of them is tried before the next one; the last one for what is left. */
  readonly attemptMs: number;
}

const FAMILIES = [4, 6] as const;

/**
 * The first addresses of each family, in their order. A name can have thousands of addresses, of anybody: all of them are
 * checked, but no request tries all of them.
 */
export function addressesToTry(
  addresses: readonly DestinationAddress[],
  ofFamilyMax = CONNECT_ADDRESSES_MAX,
): DestinationAddress[] {
  const tried = new Set(
    FAMILIES.flatMap((wanted) => addresses.filter(({ family }) => family === wanted).slice(0, ofFamilyMax)),
  );
  return addresses.filter((address) => tried.has(address));
}

/**
 * Divides the time among the addresses of a family, so that each of them gets its part. The families are not added up:
 * without IPv6 on this machine its addresses fail at once and take no time.
 *
 * @param withinMs limit of all attempts together
 */
export function connectAttempts(addresses: readonly DestinationAddress[], withinMs: number): ConnectAttempts {
  const fitting = Math.max(1, Math.floor(withinMs / CONNECT_ATTEMPT_MIN_MS));
  const tried = addressesToTry(addresses, Math.min(CONNECT_ADDRESSES_MAX, fitting));
  const ofFamily = Math.max(1, ...FAMILIES.map((wanted) => tried.filter(({ family }) => family === wanted).length));
  const attemptMs = Math.max(CONNECT_ATTEMPT_MIN_MS, Math.floor(withinMs / ofFamily));
  return { addresses: tried, attemptMs: Math.min(CONNECT_ATTEMPT_MAX_MS, attemptMs) };
}
