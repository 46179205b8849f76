import ipaddr from 'ipaddr.js';

const IPV6_SOURCE_BITS = 64;

/** The source an address belongs to: an IPv6 source is its /64, which is what one customer gets. */
export function sourceOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_SOURCE_BITS}`).toString();
}
