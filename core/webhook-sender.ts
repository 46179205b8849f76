/**
 * Sends one attempt of a delivery.
 *
 * A single deadline covers DNS, connect, TLS and response headers. The status line decides; then at most 16 KiB of the
 * decoded body are read within the same deadline and the socket is destroyed if there is more. Redirects are never
 * followed. The host is resolved and checked for every attempt, and the request goes to a checked address only: pools
 * of kept-alive sockets belong to an origin together with its addresses, so a changed DNS answer never meets an old
 * socket.
 */
import type { LookupFunction } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { buildConnector, Pool } from 'undici';
import {
  ATTEMPT_TIMEOUT_MS,
  DELIVERY_USER_AGENT,
  EVENT_HEADER,
  RESPONSE_BODY_LIMIT_BYTES,
} from '../domain/delivery-limits.ts';
import type { AttemptError } from '../domain/delivery-status.ts';
import { originGate } from './origin-gate.ts';
import {
  checkDestination,
  type DestinationAddress,
  type DestinationPolicy,
  isPublicAddress,
} from './safe-destination.ts';
import type { WebhookSigner } from './webhook-signature.ts';

export interface WebhookRequest {
  /** The `webhook-id`: same for every attempt of a delivery. */
  readonly deliveryId: string;
  readonly url: string;
  readonly eventType: string;
  /** Exact text of the body. */
  readonly payload: string;
  readonly signer: WebhookSigner;
  readonly authHeader: { readonly name: string; readonly value: string } | undefined;
}

export interface AttemptResult {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Null when no answer came. */
  readonly responseCode: number | null;
  /** Null exactly when the answer was a 2xx. */
  readonly error: AttemptError | null;
  /** For people: what went wrong, with nothing secret in it. */
  readonly message: string | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: Buffer | null;
  readonly remoteAddress: string | null;
  /** What a 429 or 503 asked for with Retry-After. */
  readonly retryAfterMs: number | undefined;
}

export interface WebhookSender {
  /**
   * Waits for a place among the requests to the URL's origin. To be entered before the last look at what may be sent,
   * because the wait can be long while the origin hangs. @returns leave, to be called when the request is over
   */
  enter(url: string): Promise<() => void>;
  /** Never rejects: what goes wrong is an outcome. */
  send(request: WebhookRequest): Promise<AttemptResult>;
  close(): Promise<void>;
}

export interface WebhookSenderOptions {
  readonly policy: DestinationPolicy;
  /** Further root certificates, PEM, beside those of Node. */
  readonly extraCa?: readonly string[];
  readonly timeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Below the 5 s after which many servers close an idle socket: a request must not meet that moment. */
const KEEP_ALIVE_MS = 2_000;
const POOL_IDLE_MS = 30_000;
const RESPONSE_HEADERS_MAX_BYTES = 16 * 1024;
const KEPT_HEADERS_MAX = 40;
const KEPT_HEADER_MAX_CHARACTERS = 1_024;
const MASKED_HEADERS = new Set(['set-cookie', 'authorization', 'proxy-authenticate', 'www-authenticate', 'x-api-key']);

interface OriginPool {
  readonly pool: Pool;
  readonly remote: { address: string | null };
  usedAt: number;
  inUse: number;
}

class UnsafeSocketError extends Error {}

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { policy, timeoutMs = ATTEMPT_TIMEOUT_MS } = options;
  // Certificates given to a connection replace Node's own, hence one context with both; made once, for it is costly.
  const secureContext =
    options.extraCa === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, ...options.extraCa] });
  const pools = new Map<string, OriginPool>();
  const gate = originGate();
  const resolving = new Map<string, ReturnType<typeof checkDestination>>();
  const sweeper = setInterval(closeIdlePools, POOL_IDLE_MS).unref();

  function closeIdlePools(): void {
    const before = Date.now() - POOL_IDLE_MS;
    for (const [key, entry] of pools) {
      if (entry.inUse > 0 || entry.usedAt > before) continue;
      pools.delete(key);
      entry.pool.close().catch(() => {});
    }
  }

  /** Attempts to one URL that start while its look-up is under way share it; none uses an older one. */
  function check(url: string): ReturnType<typeof checkDestination> {
    let running = resolving.get(url);
    if (running === undefined) {
      running = checkDestination(url, policy).finally(() => resolving.delete(url));
      resolving.set(url, running);
    }
    return running;
  }

  function poolFor(url: URL, addresses: readonly DestinationAddress[]): OriginPool {
    const key = `${url.origin} ${addresses.map(({ address }) => address).join(' ')}`;
    let entry = pools.get(key);
    if (entry === undefined) {
      entry = openPool(url.origin, addresses);
      pools.set(key, entry);
    }
    return entry;
  }

  function openPool(origin: string, addresses: readonly DestinationAddress[]): OriginPool {
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
      rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
      ...(secureContext === undefined ? {} : { secureContext }),
    });
    const guarded: buildConnector.connector = (target, done) =>
      connect(target, (error, socket) => {
        if (error !== null) {
          remote.address = null; // the next connection may try the other addresses
          return done(error, null);
        }
        const address = socket.remoteAddress ?? '';
        if (!isPublicAddress(address, policy)) {
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

  async function send(request: WebhookRequest): Promise<AttemptResult> {
    const startedAt = new Date();
    const started = performance.now();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new DeadlineError()), timeoutMs);
    let entry: OriginPool | undefined;
    const result = (outcome: Partial<AttemptResult>): AttemptResult => ({
      startedAt,
      durationMs: Math.round(performance.now() - started),
      responseCode: null,
      error: null,
      message: null,
      responseHeaders: null,
      responseBody: null,
      remoteAddress: entry?.remote.address ?? null,
      retryAfterMs: undefined,
      ...outcome,
    });
    try {
      const checked = await Promise.race([check(request.url), rejectOnAbort(deadline.signal)]);
      if (!checked.ok) {
        const error = checked.problem === 'unresolvable_destination' ? 'dns_failed' : 'unsafe_destination';
        return result({ error, message: checked.message });
      }
      entry = poolFor(checked.url, checked.addresses);
      entry.inUse++;
      const answer = await entry.pool.request({
        method: 'POST',
        path: checked.url.pathname + checked.url.search,
        headers: requestHeaders(request, startedAt),
        body: request.payload,
        signal: deadline.signal,
      });
      const code = answer.statusCode;
      const responseBody = maskedBody(
        await readBody(answer.body, answer.headers['content-encoding']),
        request.authHeader?.value,
      );
      const delivered = code >= 200 && code < 300;
      return result({
        responseCode: code,
        error: delivered ? null : 'http_status',
        message: delivered ? null : `answered ${code}`,
        responseHeaders: keptHeaders(answer.headers, request.authHeader?.value),
        responseBody,
        retryAfterMs: code === 429 || code === 503 ? retryAfterMs(answer.headers['retry-after']) : undefined,
      });
    } catch (error) {
      return result(failureOf(error));
    } finally {
      clearTimeout(timer);
      if (entry !== undefined) {
        entry.inUse--;
        entry.usedAt = Date.now();
      }
    }
  }

  return {
    enter: (url) => gate.enter(URL.parse(url)?.origin ?? ''),
    send,
    async close() {
      clearInterval(sweeper);
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()));
      pools.clear();
    },
  };
}

class DeadlineError extends Error {
  constructor() {
    super('no answer within the time');
    this.name = 'DeadlineError';
  }
}

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** Names and values in turn, so that names keep their spelling. */
function requestHeaders(request: WebhookRequest, timestamp: Date): string[] {
  const headers = [
    'Content-Type',
    'application/json',
    'User-Agent',
    DELIVERY_USER_AGENT,
    'webhook-id',
    request.deliveryId,
    'webhook-timestamp',
    String(Math.floor(timestamp.getTime() / 1000)),
    'webhook-signature',
    request.signer.sign(request.deliveryId, timestamp, request.payload),
    EVENT_HEADER,
    request.eventType,
  ];
  if (request.authHeader !== undefined) headers.push(request.authHeader.name, request.authHeader.value);
  return headers;
}

/**
 * The first 16 KiB of the decoded body. A body that breaks off, is damaged, or is still coming at the deadline changes
 * nothing: the status line has decided.
 */
async function readBody(
  body: AsyncIterable<Buffer> & { destroy(): unknown; on(event: 'error', listener: () => void): unknown },
  encoding: string | string[] | undefined,
): Promise<Buffer> {
  body.on('error', () => {}); // destroying a body that is still coming reports an abort
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > RESPONSE_BODY_LIMIT_BYTES) break;
    }
  } catch {
    body.destroy();
  }
  const raw = Buffer.concat(chunks).subarray(0, RESPONSE_BODY_LIMIT_BYTES);
  return encoding === undefined || raw.length === 0 ? raw : decodeStart(raw, String(encoding).toLowerCase());
}

/** Decodes as much of the beginning of a compressed body as is there, up to the limit. Unknown codings stay as sent. */
async function decodeStart(raw: Buffer, encoding: string): Promise<Buffer> {
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined;
  if (decoder === undefined) return raw;
  const chunks: Buffer[] = [];
  let size = 0;
  decoder.end(raw);
  try {
    for await (const chunk of decoder) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= RESPONSE_BODY_LIMIT_BYTES) break;
    }
  } catch {
    // Cut off or damaged: what came out so far is kept.
  }
  decoder.destroy();
  return Buffer.concat(chunks).subarray(0, RESPONSE_BODY_LIMIT_BYTES);
}

/** Shorter values are no secrets, and would mask ordinary words. */
const SECRET_MIN_CHARACTERS = 8;
const HIDDEN = '[hidden]';

/** A server that echoes the request must not make the write-only authentication header readable. */
const masked = (text: string, secret: string | undefined): string =>
  secret === undefined || secret.length < SECRET_MIN_CHARACTERS ? text : text.replaceAll(secret, HIDDEN);

const maskedBody = (body: Buffer, secret: string | undefined): Buffer =>
  secret === undefined || secret.length < SECRET_MIN_CHARACTERS || !body.includes(secret)
    ? body
    : Buffer.from(masked(body.toString('latin1'), secret), 'latin1');

function keptHeaders(
  headers: Record<string, string | string[] | undefined>,
  secret: string | undefined,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers).slice(0, KEPT_HEADERS_MAX)) {
    const text = MASKED_HEADERS.has(name) ? HIDDEN : Array.isArray(value) ? value.join(', ') : (value ?? '');
    kept[name] = masked(text, secret).replaceAll('\0', '').slice(0, KEPT_HEADER_MAX_CHARACTERS);
  }
  return kept;
}

/** RFC 9110 §10.2.3: seconds or a date. */
function retryAfterMs(value: string | string[] | undefined): number | undefined {
  const text = String(value ?? '').trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

const CONNECT_CODES = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENETDOWN',
  'EHOSTDOWN',
  'EACCES',
  'EPERM',
]);
const TLS_CODE = /^(ERR_TLS_|ERR_SSL_|CERT_|EPROTO$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|ERR_OSSL)/;

function failureOf(error: unknown): { error: AttemptError; message: string } {
  if (error instanceof DeadlineError) return { error: 'timeout', message: error.message };
  if (error instanceof UnsafeSocketError) return { error: 'unsafe_destination', message: error.message };
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const code = first instanceof Error && 'code' in first ? String(first.code) : '';
  const message = first instanceof Error ? first.message.slice(0, 300) : 'unknown';
  return { error: errorOfCode(code), message: code === '' ? message : `${code}: ${message}` };
}

function errorOfCode(code: string): AttemptError {
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return 'timeout';
  if (code === 'ECONNREFUSED') return 'connect_refused';
  if (CONNECT_CODES.has(code)) return 'connect_failed';
  if (TLS_CODE.test(code)) return 'tls_failed';
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'response_too_large';
  if (code === 'UND_ERR_ABORTED' || code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return 'aborted';
  return 'reset'; // ECONNRESET, EPIPE, UND_ERR_SOCKET, HPE_…: the connection broke or spoke no HTTP
}
