/**
 * Sends one attempt of a delivery.
 *
 * A single deadline covers DNS, connect, TLS and response headers. The status line decides; then at most 16 KiB of the
 * decoded body are read within the same deadline and the socket is destroyed if there is more. Redirects are never
 * followed. The host is resolved and checked for every attempt, and the request is sent to a checked address only
 * (`connection-pools.ts`).
 */

import type { ReceiverAnswer } from '#core/webhooks/webhook-receiver.ts';
import { ATTEMPT_TIMEOUT_MS } from '#domain/webhooks/delivery-limits.ts';
import type { AttemptError } from '#domain/webhooks/delivery-status.ts';
import { DeadlineError, failureOf } from './attempt-failure.ts';
import { connectionPools, type OriginPool } from './connection-pools.ts';
import { checkDestination, type DestinationPolicy } from './destination-guard.ts';
import { originGate } from './origin-gate.ts';
import { keptHeaders, maskedBody, readBody, retryAfterMs } from './webhook-answer.ts';
import { namedHeaders, requestHeaders, type WebhookRequest } from './webhook-request.ts';

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
