/** The source and the network that an address of a client belongs to, which limits count by. */
import ipaddr from 'ipaddr.js';

const IPV6_SOURCE_BITS = 64;
const IPV4_NETWORK_BITS = 24;
const IPV6_NETWORK_BITS = 48;

/** The source an address belongs to: an IPv6 source is its /64, which is what one customer gets. */
export function sourceOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_SOURCE_BITS}`).toString();
}

/** The network an address belongs to, of which one tenant has many addresses: its /24, or in IPv6 its /48. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/${IPV4_NETWORK_BITS}`).toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_NETWORK_BITS}`).toString();
}
