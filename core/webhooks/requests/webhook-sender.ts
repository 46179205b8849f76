/**
 * Sends one attempt of a delivery.
 *
 *   place at the origin ─▶ look-up and check of the host ─▶ request to a checked address ─▶ status line ─▶ what is kept
 *
 * A single deadline covers DNS, connect, TLS and response headers. The status line decides; then at most 16 KiB of the
 * decoded body are read within the same deadline and the socket is destroyed if there is more. Redirects are never
 * followed. The host is resolved and checked for every attempt, and the request is sent to a checked address only
 * (`connection-pools.ts`). Of an answer the beginning of its body and some header fields are kept, without secrets. A
 * failure is one of the errors of `domain/webhooks/delivery-status.ts`.
 */
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { tlsFailureOf } from '#client/tls-failure.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { WebhookSigner } from '#core/webhooks/signing/webhook-signature.ts';
import type { ReceiverAnswer } from '#core/webhooks/webhook-receiver.ts';
import {
  ATTEMPT_TIMEOUT_MS,
  DELIVERY_USER_AGENT,
  EVENT_HEADER,
  FAILURE_REASON_MAX_CHARACTERS,
  RESPONSE_BODY_LIMIT_BYTES,
} from '#domain/webhooks/delivery-limits.ts';
import type { AttemptError } from '#domain/webhooks/delivery-status.ts';
import { connectionPools, type OriginPool, originGate, UnsafeSocketError } from './connection-pools.ts';
import { checkDestination, type DestinationPolicy } from './destination-guard.ts';

export interface AttemptResult {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Null when no answer came. */
  readonly responseCode: number | null;
  /** Null exactly when the answer was a 2xx. */
  readonly error: AttemptError | null;
  /** The error for people, without secrets. */
  readonly message: string | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: Buffer | null;
  readonly remoteAddress: string | null;
  /** Retry-After of a 429 or 503. */
  readonly retryAfterMs: number | undefined;
}

export interface WebhookSender {
  /**
   * Waits for a place among the requests to the URL's origin. Call it before the last check of what may be sent,
   * because the wait can be long while the origin hangs.
   *
   * @param isRetry requests of endpoints that were in trouble have a part of the places only
   * @returns a function to call when the request is over; undefined: no request may start any more
   */
  enter(url: string, isRetry: boolean): Promise<(() => void) | undefined>;
  /** No request starts any more; those in flight end. */
  drain(): void;
  /** Never rejects: failures are outcomes. */
  send(request: WebhookRequest): Promise<AttemptResult>;
  close(): Promise<void>;
}

export interface WebhookSenderOptions {
  readonly policy: DestinationPolicy;
  /** Root certificates, PEM, in addition to those of Node. */
  readonly extraCa?: readonly string[];
  readonly timeoutMs?: number;
  /**
   * Handles requests to a built-in receiver, for which no connection is made. Header names in lower case.
   *
   * @returns undefined for every other URL
   */
  readonly receiver?: (
    url: string,
    request: () => { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  ) => Promise<ReceiverAnswer | undefined>;
}

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { policy, timeoutMs = ATTEMPT_TIMEOUT_MS } = options;
  const pools = connectionPools({ policy, extraCa: options.extraCa, timeoutMs });
  const gate = originGate();
  const resolving = new Map<string, ReturnType<typeof checkDestination>>();

  /** Attempts to one URL that start during its look-up share it; none uses an older one. */
  function check(url: string): ReturnType<typeof checkDestination> {
    let running = resolving.get(url);
    if (running === undefined) {
      running = checkDestination(url, policy).finally(() => resolving.delete(url));
      resolving.set(url, running);
    }
    return running;
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
      const taken = await options.receiver?.(request.url, () => ({
        headers: namedHeaders(requestHeaders(request, startedAt)),
        body: request.payload,
      }));
      if (taken !== undefined) {
        const { status, text } = taken;
        return result({
          responseCode: status,
          error: status === 200 ? null : 'http_status',
          message: status === 200 ? null : `answered ${status}`,
          responseHeaders: {},
          responseBody: Buffer.from(text),
        });
      }
      const checked = await Promise.race([check(request.url), rejectOnAbort(deadline.signal)]);
      if (!checked.ok) {
        const error = checked.problem === 'unresolvable_destination' ? 'dns_failed' : 'unsafe_destination';
        return result({ error, message: checked.message });
      }
      entry = pools.take(checked.url, checked.addresses);
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
      if (entry !== undefined) pools.release(entry);
    }
  }

  return {
    enter: (url, isRetry) => gate.enter(URL.parse(url)?.origin ?? '', isRetry),
    drain: () => gate.close(),
    send,
    async close() {
      gate.close();
      await pools.close();
    },
  };
}

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

export interface WebhookRequest {
  /** The `webhook-id`: same for every attempt of a delivery. */
  readonly deliveryId: string;
  readonly url: string;
  readonly eventType: string;
  /** Exact text of the body. */
  readonly payload: string;
  /** Null: the request is a chat message, not a delivery, and has no webhook headers. */
  readonly signer: WebhookSigner | null;
  readonly authHeader: { readonly name: string; readonly value: string } | undefined;
  /** Header of W3C Trace Context, where tracing is on; it is not signed. */
  readonly traceparent?: string | undefined;
}

/** Names and values in turn, so that names keep their spelling. */
export function requestHeaders(request: WebhookRequest, timestamp: Date): string[] {
  const headers = ['Content-Type', 'application/json', 'User-Agent', DELIVERY_USER_AGENT];
  if (request.signer !== null)
    headers.push(
      'webhook-id',
      request.deliveryId,
      'webhook-timestamp',
      String(Math.floor(timestamp.getTime() / 1000)),
      'webhook-signature',
      request.signer.sign(request.deliveryId, timestamp, request.payload),
      EVENT_HEADER,
      request.eventType,
    );
  if (request.signer !== null && request.traceparent !== undefined) headers.push('traceparent', request.traceparent);
  if (request.authHeader !== undefined) headers.push(request.authHeader.name, request.authHeader.value);
  return headers;
}

/** The same by name, in lower case. */
export const namedHeaders = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: pairs.length / 2 }, (_, i) => [(pairs[2 * i] ?? '').toLowerCase(), pairs[2 * i + 1] ?? '']),
  );

const KEPT_HEADERS_MAX = 40;
const KEPT_HEADER_MAX_CHARACTERS = 1_024;
const MASKED_HEADERS = new Set(['set-cookie', 'authorization', 'proxy-authenticate', 'www-authenticate', 'x-api-key']);

/**
 * The first 16 KiB of the decoded body. A body that breaks off, is damaged, or is still coming at the deadline changes
 * nothing: the status line has decided.
 */
export async function readBody(
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

/** Decodes the available beginning of a compressed body, up to the limit. Unknown codings are not decoded. */
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
    // Truncated or damaged: the part decoded so far is used.
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

/** @param secret the value of the authentication header */
export const maskedBody = (body: Buffer, secret: string | undefined): Buffer =>
  secret === undefined || secret.length < SECRET_MIN_CHARACTERS || !body.includes(secret)
    ? body
    : Buffer.from(masked(body.toString('latin1'), secret), 'latin1');

/** @param secret the value of the authentication header */
export function keptHeaders(
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
export function retryAfterMs(value: string | string[] | undefined): number | undefined {
  const text = String(value ?? '').trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

export class DeadlineError extends Error {
  constructor() {
    super('no answer within the time limit');
    this.name = 'DeadlineError';
  }
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

export function failureOf(error: unknown): { error: AttemptError; message: string } {
  if (error instanceof DeadlineError) return { error: 'timeout', message: error.message };
  if (error instanceof UnsafeSocketError) return { error: 'unsafe_destination', message: error.message };
  const ofAddresses = addressErrors(error);
  const first = ofAddresses?.errors[0] ?? error;
  const code = codeOf(first);
  const message = ofAddresses === undefined ? ownMessage(error) : reasonOf(ofAddresses);
  const reason = tlsFailureOf(first) ?? (code === '' ? message : `${code}: ${message}`);
  return {
    // Of several addresses the outer error says what they have in common, whatever their order.
    error: errorOfCode(codeOf(error) || code),
    message: reason.slice(0, FAILURE_REASON_MAX_CHARACTERS),
  };
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
const ownMessage = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');

/** One error for each address; undici keeps them as the cause of a time limit that was not reached. */
function addressErrors(error: unknown): AggregateError | undefined {
  if (error instanceof AggregateError) return error;
  return error instanceof Error && error.cause instanceof AggregateError ? error.cause : undefined;
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
