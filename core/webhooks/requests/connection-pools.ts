/**
 * Connections to the hosts of webhook endpoints.
 *
 * **Pools** keep them alive. They are keyed by origin and checked addresses, so a changed DNS answer never reuses an old
 * socket, and each new socket is checked once more. A host with several addresses is connected to one address after
 * another, each for a part of the time.
 *
 * **Gate.** It limits new connections to one origin when many requests start at the same time, without letting hanging
 * requests block the others: many organizations may have endpoints on the same host.
 *
 *   wait for one of 64 places ──▶ in flight ──▶ answered, or a second has passed ──▶ the place is free
 *
 * So at most 64 requests younger than a second are in flight to an origin. The number of older ones is limited by the
 * endpoints' slots (`activities/endpoint-slots.ts`). Retries, and first attempts at endpoints known to be slow, have 24
 * of the places: when many endpoints of one host hang, their requests time out and start again together, and would take
 * all places for seconds.
 */
import type { LookupFunction } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector, Pool } from 'undici';
import { semaphoreByKey } from '#core/platform/batching/semaphore.ts';
import {
  CONNECT_ADDRESSES_MAX,
  CONNECT_ATTEMPT_MAX_MS,
  CONNECT_ATTEMPT_MIN_MS,
  CONNECT_TIMEOUT_MS,
} from '#domain/webhooks/delivery-limits.ts';
import { type DestinationAddress, type DestinationPolicy, isPublicAddress } from './destination-guard.ts';

/** The address that was connected to is not a public one. */
export class UnsafeSocketError extends Error {}

/** The other side ended the connection before its address could be asked for. */
export class BrokenSocketError extends Error {
  readonly code = 'ECONNRESET';
  constructor() {
    super('the connection broke at once');
    this.name = 'BrokenSocketError';
  }
}

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
