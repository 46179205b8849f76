/**
 * Kept-alive connections to webhook endpoints. Pools are keyed by origin and checked addresses, so a changed DNS answer
 * never reuses an old socket, and each new socket is checked once more.
 */
import type { LookupFunction } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector, Pool } from 'undici';
import { CONNECT_TIMEOUT_MS } from '#domain/webhooks/delivery-limits.ts';
import { BrokenSocketError, UnsafeSocketError } from './attempt-failure.ts';
import { type ConnectAttempts, connectAttempts } from './connect-attempts.ts';
import { type DestinationAddress, type DestinationPolicy, isPublicAddress } from './destination-guard.ts';

export interface OriginPool {
  readonly pool: Pool;
  readonly remote: { address: string | null };
  usedAt: number;
  inUse: number;
}

export interface ConnectionPools {
  /** Call `release` when the request has ended. */
  take(url: URL, addresses: readonly DestinationAddress[]): OriginPool;
  release(pool: OriginPool): void;
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly policy: DestinationPolicy;
  /** Root certificates, PEM, in addition to those of Node. */
  readonly extraCa?: readonly string[] | undefined;
  /** Of a request, from its start to the headers of its answer. */
  readonly timeoutMs: number;
}

/** Below the 5 s after which many servers close an idle socket: a request must not meet that moment. */
const KEEP_ALIVE_MS = 2_000;
const POOL_IDLE_MS = 30_000;
const RESPONSE_HEADERS_MAX_BYTES = 16 * 1024;

export function connectionPools({ policy, extraCa, timeoutMs }: PoolOptions): ConnectionPools {
  // Certificates given to a connection replace Node's own, hence one context with both; made once, for it is costly.
  const secureContext =
    extraCa === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, ...extraCa] });
  const pools = new Map<string, OriginPool>();
  const sweeper = setInterval(closeIdlePools, POOL_IDLE_MS).unref();

  function closeIdlePools(): void {
    const before = Date.now() - POOL_IDLE_MS;
    for (const [key, entry] of pools) {
      if (entry.inUse > 0 || entry.usedAt > before) continue;
      pools.delete(key);
      entry.pool.close().catch(() => {});
    }
  }

  function poolFor(url: URL, checked: readonly DestinationAddress[]): OriginPool {
    const attempts = connectAttempts(checked, CONNECT_TIMEOUT_MS);
    const key = `${url.origin} ${attempts.addresses.map(({ address }) => address).join(' ')}`;
    let entry = pools.get(key);
    if (entry === undefined) {
      entry = openPool(url.origin, attempts);
      pools.set(key, entry);
    }
    return entry;
  }

  function openPool(origin: string, { addresses, attemptMs }: ConnectAttempts): OriginPool {
    const remote: OriginPool['remote'] = { address: null };
    const lookup: LookupFunction = (_host, lookupOptions, done) => {
      // After the first connection its address is used alone, so that attempts can name the address they reached.
      const pinned = addresses.filter(({ address }) => remote.address === null || address === remote.address);
      const [first] = pinned;
      if (lookupOptions.all) done(null, [...pinned]);
      else if (first) done(null, first.address, first.family);
    };
    const connect = buildConnector({
      lookup,
      allowH2: false,
      timeout: CONNECT_TIMEOUT_MS,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptMs,
      rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
      ...(secureContext === undefined ? {} : { secureContext }),
    });
    const guarded: buildConnector.connector = (target, done) =>
      connect(target, (error, socket) => {
        if (error !== null) {
          remote.address = null; // the next connection may try the other addresses
          return done(error, null);
        }
        const address = socket.remoteAddress;
        if (address === undefined) {
          remote.address = null;
          socket.destroy();
          return done(new BrokenSocketError(), null);
        }
        if (!isPublicAddress(address, policy)) {
          remote.address = null;
          socket.destroy();
          return done(new UnsafeSocketError(`connected to ${address}, which is not publicly routable`), null);
        }
        remote.address = address;
        return done(null, socket);
      });
    const pool = new Pool(origin, {
      connect: guarded,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      headersTimeout: timeoutMs + 1_000, // the deadline over everything comes first
      bodyTimeout: timeoutMs + 1_000,
      maxHeaderSize: RESPONSE_HEADERS_MAX_BYTES,
    });
    return { pool, remote, usedAt: Date.now(), inUse: 0 };
  }

  return {
    take(url, addresses) {
      const entry = poolFor(url, addresses);
      entry.inUse++;
      return entry;
    },
    release(entry) {
      entry.inUse--;
      entry.usedAt = Date.now();
    },
    async close() {
      clearInterval(sweeper);
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()));
      pools.clear();
    },
  };
}
