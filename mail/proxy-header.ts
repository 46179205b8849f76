/**
 * The PROXY protocol, versions 1 (text) and 2 (binary): a proxy in front sends the address of the client in a few bytes
 * before those of the connection (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt). Pure; `listeners.ts`
 * decides which addresses to trust.
 */
import ipaddr from 'ipaddr.js';

export interface ProxySource {
  readonly address: string;
  readonly port: number;
}

export type ProxyHeader =
  /** More bytes are needed. */
  | { readonly kind: 'partial' }
  | { readonly kind: 'bad' }
  /** `source` null: the proxy speaks for itself (a health check), or for a client of unknown address. */
  | { readonly kind: 'complete'; readonly bytes: number; readonly source: ProxySource | null };

/** With its CRLF, section 2.1. */
const V1_MAX_BYTES = 107;
const V1_START = Buffer.from('PROXY ');
const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V2_FIXED_BYTES = 16;
/** Addresses and extensions. What proxies send in practice stays far below. */
const V2_REST_MAX_BYTES = 4_096;
const V2_VERSION = 2;
const V2_COMMAND = { local: 0, proxy: 1 } as const;
const V2_FAMILY = { ipv4: 1, ipv6: 2 } as const;

const PARTIAL: ProxyHeader = { kind: 'partial' };
const BAD: ProxyHeader = { kind: 'bad' };

const startsLike = (bytes: Buffer, start: Buffer): boolean =>
  bytes.subarray(0, start.length).equals(start.subarray(0, bytes.length));

/** Reads the header at the start of the received bytes. */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (startsLike(bytes, V2_SIGNATURE)) return bytes.length < V2_FIXED_BYTES ? PARTIAL : readVersion2(bytes);
  if (startsLike(bytes, V1_START)) return readVersion1(bytes);
  return BAD;
}

function readVersion1(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, V1_MAX_BYTES).indexOf('\r\n');
  if (end < 0) return bytes.length < V1_MAX_BYTES ? PARTIAL : BAD;
  const text = bytes.toString('latin1', 0, end);
  const length = end + 2;
  if (/^PROXY UNKNOWN(?: |$)/.test(text)) return { kind: 'complete', bytes: length, source: null };
  const [, family, address = '', port] =
    /^PROXY (TCP4|TCP6) ([0-9A-Fa-f.:]+) [0-9A-Fa-f.:]+ (\d{1,5}) \d{1,5}$/.exec(text) ?? [];
  const valid = family === 'TCP4' ? ipaddr.IPv4.isValidFourPartDecimal(address) : ipaddr.IPv6.isValid(address);
  if (family === undefined || !valid || Number(port) > 65_535) return BAD;
  return { kind: 'complete', bytes: length, source: { address, port: Number(port) } };
}

function readVersion2(bytes: Buffer): ProxyHeader {
  const versionAndCommand = bytes.readUInt8(12);
  const family = bytes.readUInt8(13) >> 4;
  const rest = bytes.readUInt16BE(14);
  const command = versionAndCommand & 0x0f;
  if (versionAndCommand >> 4 !== V2_VERSION || rest > V2_REST_MAX_BYTES) return BAD;
  if (command !== V2_COMMAND.local && command !== V2_COMMAND.proxy) return BAD;
  const length = V2_FIXED_BYTES + rest;
  if (bytes.length < length) return PARTIAL;
  const complete = (source: ProxySource | null): ProxyHeader => ({ kind: 'complete', bytes: length, source });
  // Other families (local sockets, unspecified) say nothing about a client's address.
  if (command === V2_COMMAND.local || (family !== V2_FAMILY.ipv4 && family !== V2_FAMILY.ipv6)) return complete(null);
  const addressBytes = family === V2_FAMILY.ipv4 ? 4 : 16;
  if (rest < 2 * addressBytes + 4) return BAD;
  const address = ipaddr.fromByteArray([...bytes.subarray(V2_FIXED_BYTES, V2_FIXED_BYTES + addressBytes)]).toString();
  return complete({ address, port: bytes.readUInt16BE(V2_FIXED_BYTES + 2 * addressBytes) });
}
