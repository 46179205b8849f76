/** How a host with several addresses is connected to: one address after another, each for a part of the time. */
import { CONNECT_ADDRESSES_MAX, CONNECT_ATTEMPT_MAX_MS, CONNECT_ATTEMPT_MIN_MS } from '#domain/delivery-limits.ts';
import type { DestinationAddress } from './destination-guard.ts';

/**
 * At most `CONNECT_ADDRESSES_MAX` of each family. A name can have thousands of addresses, of anybody: all of them are
 * checked, but no request tries all of them.
 */
export function addressesToTry(addresses: readonly DestinationAddress[]): DestinationAddress[] {
  const ofFamily = (wanted: DestinationAddress['family']) =>
    addresses.filter(({ family }) => family === wanted).slice(0, CONNECT_ADDRESSES_MAX);
  const tried = new Set([...ofFamily(4), ...ofFamily(6)]);
  return addresses.filter((address) => tried.has(address));
}

/**
 * How long each address is tried before the next one, so that the last one has its part of the time too.
 *
 * @param count addresses that are tried
 * @param withinMs limit of all of them together
 */
export const connectAttemptMs = (count: number, withinMs: number): number =>
  Math.max(CONNECT_ATTEMPT_MIN_MS, Math.min(CONNECT_ATTEMPT_MAX_MS, Math.floor(withinMs / Math.max(1, count))));
