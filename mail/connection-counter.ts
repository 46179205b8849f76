/** Counts the connections of each source address; an IPv6 source is its /64, which is what one customer gets. */
import ipaddr from 'ipaddr.js';

export interface ConnectionCounter {
  /** False when the source has as many as it may. */
  enter(connectionId: string, address: string): boolean;
  leave(connectionId: string): void;
}

const IPV6_SOURCE_BITS = 64;

/** The source an address belongs to. */
export function sourceOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_SOURCE_BITS}`).toString();
}

export function connectionCounter(maxPerSource: number): ConnectionCounter {
  const sources = new Map<string, number>();
  const connections = new Map<string, string>();
  return {
    enter(connectionId, address) {
      const source = sourceOf(address);
      const count = sources.get(source) ?? 0;
      if (count >= maxPerSource) return false;
      sources.set(source, count + 1);
      connections.set(connectionId, source);
      return true;
    },
    leave(connectionId) {
      const source = connections.get(connectionId);
      if (source === undefined) return;
      connections.delete(connectionId);
      const count = (sources.get(source) ?? 1) - 1;
      if (count > 0) sources.set(source, count);
      else sources.delete(source);
    },
  };
}
