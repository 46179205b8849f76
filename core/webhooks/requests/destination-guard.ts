/**
 * Where a webhook may be sent: `https:`, and every address of the host is globally routable unicast.
 *
 * The parsed host is checked, never the raw text: WHATWG URL has already turned octal, hex, short and full-width
 * spellings into an address. Names are resolved anew for every attempt and the request is pinned to a checked address.
 */
import { Resolver } from 'node:dns/promises';
import net from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Settings } from '#core/platform/settings/settings.ts';

export interface DestinationAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export type DestinationProblem = 'invalid_url' | 'unresolvable_destination' | 'unsafe_destination';

export type DestinationCheck =
  | { readonly ok: true; readonly url: URL; readonly addresses: readonly DestinationAddress[] }
  | { readonly ok: false; readonly problem: DestinationProblem; readonly message: string };

/** Looks up all addresses of a name. Rejects when there is none. */
export type ResolveHost = (host: string) => Promise<readonly DestinationAddress[]>;

export interface DestinationPolicy {
  readonly resolve: ResolveHost;
  /** CIDR ranges that count as public (development and tests). */
  readonly allowed: readonly ReturnType<typeof ipaddr.parseCIDR>[];
}

/** Addresses inside public ranges that serve a cloud's own metadata or management. */
const METADATA_ADDRESSES = new Set(['168.63.129.16', '100.100.100.200', '192.0.0.192']);

/** IPv6 without a dotted tail: the parser takes the outdated `::1.2.3.4` for the IPv4 address 1.2.3.4. */
const hexadecimal = (address: string): string =>
  net.isIPv6(address) && URL.canParse(`http://[${address}]`)
    ? new URL(`http://[${address}]`).hostname.slice(1, -1)
    : address;

/** All global unicast IPv6 space that IANA has assigned (RFC 4291 §2.4); other space is special or unused. */
const GLOBAL_UNICAST_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is an ordinary public one. IPv4 inside IPv6 is refused as its range (NAT64, 6to4, Teredo), or
 * checked as the IPv4 address it contains (mapped).
 */
export function isPublicAddress(address: string, policy: Pick<DestinationPolicy, 'allowed'>): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(hexadecimal(address));
  const allowed = policy.allowed.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
  if (allowed) return true;
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_UNICAST_IPV6)) return false;
  return parsed.range() === 'unicast' && !METADATA_ADDRESSES.has(parsed.toString());
}

export const destinationPolicy = (
  settings: Settings,
  resolve: ResolveHost = dnsResolver(settings),
): DestinationPolicy => ({
  resolve,
  allowed: settings.WEBHOOK_ALLOW_DESTINATIONS.map((cidr) => ipaddr.parseCIDR(cidr)),
});

const DNS_TIMEOUT_MS = 4_000;
const DNS_TRIES = 2;
const IPV6_PATIENCE_MS = 1_000;
/** Limit of the whole look-up, however many name servers are unreachable: a client waits for the answer of the API. */
const RESOLVE_WITHIN_MS = 8_000;

/** Rejects if the promise takes longer. */
function within<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer in time')), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * Asks DNS for IPv4 and IPv6 addresses, not the system's name service: a slow answer then delays no other look-up,
 * while getaddrinfo would occupy one of few threads. `localhost` names are loopback by definition (RFC 6761 §6.3).
 */
export function dnsResolver(settings: Pick<Settings, 'DNS_SERVERS'>): ResolveHost {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (settings.DNS_SERVERS.length > 0) resolver.setServers(settings.DNS_SERVERS);
  return async (host) => {
    if (host === 'localhost' || host.endsWith('.localhost'))
      return [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ];
    const asked6 = resolver.resolve6(host);
    asked6.catch(() => {}); // it may fail while the other is still asked
    const [v4] = await Promise.allSettled([resolver.resolve4(host)]);
    // Some name servers never answer for IPv6. No connection is made to an unknown address, so there is no need to
    // wait.
    const patienceMs = v4.status === 'fulfilled' ? IPV6_PATIENCE_MS : DNS_TIMEOUT_MS * DNS_TRIES;
    const [v6] = await Promise.allSettled([within(asked6, patienceMs)]);
    const addresses: DestinationAddress[] = [];
    if (v4.status === 'fulfilled') for (const address of v4.value) addresses.push({ address, family: 4 });
    if (v6.status === 'fulfilled') for (const address of v6.value) addresses.push({ address, family: 6 });
    if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason;
    return addresses;
  };
}

/** The checks of a destination that need no DNS. */
export function parseDestination(text: string): { url: URL } | { message: string } {
  if (!URL.canParse(text)) return { message: 'not an absolute URL' };
  const url = new URL(text);
  if (url.protocol !== 'https:') return { message: `the scheme is ${url.protocol.slice(0, -1)}, but must be https` };
  if (url.username !== '' || url.password !== '')
    return { message: 'a user name or password in the URL is not allowed; use authHeader' };
  if (url.hostname === '') return { message: 'the URL has no host' };
  if (url.port === '0') return { message: 'port 0 cannot be connected to' };
  return { url };
}

/**
 * Checks a destination: at create, at update, and at every attempt. Never throws for errors that a customer or DNS can
 * cause.
 */
export async function checkDestination(text: string, policy: DestinationPolicy): Promise<DestinationCheck> {
  const parsed = parseDestination(text);
  if ('message' in parsed) return { ok: false, problem: 'invalid_url', message: parsed.message };
  const { url } = parsed;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const family = net.isIP(host);
  let addresses: readonly DestinationAddress[];
  if (family === 4 || family === 6) addresses = [{ address: host, family }];
  else {
    try {
      addresses = await within(Promise.resolve(policy.resolve(host)), RESOLVE_WITHIN_MS);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
      return { ok: false, problem: 'unresolvable_destination', message: `${host} does not resolve (${code})` };
    }
  }
  if (addresses.length === 0)
    return { ok: false, problem: 'unresolvable_destination', message: `${host} has no address` };
  const unsafe = addresses.find(({ address }) => !isPublicAddress(address, policy));
  if (unsafe !== undefined)
    return {
      ok: false,
      problem: 'unsafe_destination',
      message: `${host === unsafe.address ? host : `${host} resolves to ${unsafe.address}, which`} is not publicly routable`,
    };
  return { ok: true, url, addresses };
}
