/**
 * The activity that attempts deliveries: first attempts of a whole fan-out, or one endpoint's retries.
 *
 *   for each window of deliveries
 *     reserve   attempt number + everything needed, in one statement; what it does not return is not sent
 *     send      under the endpoint's slots; what waited for one goes by the endpoint as it is then
 *     record    results as they arrive
 *   settle      what was not acknowledged: final with a reason, or still owed → returned to the workflow
 *
 * An outcome is never an exception. What throws is our own fault (database away, worker shutting down), and only when
 * every request under way has ended and is recorded; the engine then gives the rest to a worker again.
 */

import type { Logger } from '../core/logger.ts';
import { attemptSeconds, attemptsTotal, deliverySeconds, exhaustedTotal } from '../core/metrics.ts';
import type { SealedSecrets } from '../core/sealed-secrets.ts';
import { authHeaderPlace, webhookSecretPlace } from '../core/webhook-secrets.ts';
import type { AttemptResult, WebhookSender } from '../core/webhook-sender.ts';
import { type WebhookSigner, webhookSigner } from '../core/webhook-signature.ts';
import type { Database } from '../db/database.ts';
import {
  type AttemptRecord,
  eventPayloadOf,
  type ReservedAttempt,
  releaseAttempts,
  reserveAttempts,
  reserveManualAttempts,
  reserveRecoveryAttempts,
  settleUnattempted,
} from '../db/queries/attempts.ts';
import { disableGoneEndpoint } from '../db/queries/endpoint-health.ts';
import { type SendableEndpoint, sendableEndpoint } from '../db/queries/sendable-endpoint.ts';
import { ENDPOINT_CONCURRENCY } from '../domain/delivery-limits.ts';
import {
  type AttemptInput,
  type AttemptOutput,
  endpointDeliveryId,
  type WaitingEndpoint,
} from '../domain/delivery-workflows.ts';
import { timeOfIdMs } from '../domain/ids.ts';
import { RECOVERY_CONCURRENCY } from '../domain/recovery.ts';
import { retryDelayMs } from '../domain/retry-ladder.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import type { EndpointNotes } from './endpoint-notes.ts';
import type { EndpointSlots } from './endpoint-slots.ts';

export interface AttemptDependencies {
  readonly db: Database;
  readonly secrets: SealedSecrets;
  readonly sender: WebhookSender;
  readonly slots: EndpointSlots;
  readonly recorder: AttemptRecorder;
  readonly notes: EndpointNotes;
  /** Told when an endpoint's server answered 410 and it was set inactive. */
  readonly onEndpointGone: (endpointId: string) => void;
  /** Called when attempts of deliveries of these endpoints were used up: some may have failed for too long. */
  readonly reviewFailing: (endpointIds: readonly string[]) => Promise<void>;
  /** Aborted when the worker shuts down: requests under way end, no others begin. */
  readonly draining: AbortSignal;
  readonly log: Logger;
  readonly now: () => number;
}

/** Where an activity runs: its workflow, and a sign of life for the engine. */
export interface AttemptContext {
  readonly workflowId: string;
  readonly heartbeat: () => void;
  /** Aborted when the engine has given up this run, so that another one may be under way. */
  readonly givenUp: AbortSignal;
}

const GONE = 410;
/** Deliveries reserved together. In an endpoint's lane no more than may be sent at once: what is reserved and not sent counts as an attempt should the worker die. */
const WINDOW = {
  'fan-out': 100,
  endpoint: ENDPOINT_CONCURRENCY,
  manual: ENDPOINT_CONCURRENCY,
  recovery: RECOVERY_CONCURRENCY,
} as const;
/** The next window starts when half of this one is done, or in a fan-out after this time. */
const NEXT_WINDOW_MS = 50;
/**
 * A run starts no new attempts after this; the rest goes on in the endpoint's lane. A fan-out ends, with the 15 s of its
 * last request, before the first retry is due.
 */
const RUN_MS = {
  'fan-out': 10_000,
  endpoint: 30_000,
  manual: Number.POSITIVE_INFINITY,
  recovery: Number.POSITIVE_INFINITY,
} as const;
/** What was read of an endpoint longer ago than this is read again before something is sent. */
const FRESH_MS = { 'fan-out': 200, endpoint: 5, manual: 5, recovery: 5 } as const;
/** Each is a write of the engine: two must fit into its heartbeat timeout of 6 s, no more. */
const HEARTBEAT_MS = 2_000;

export async function attemptDeliveries(
  deps: AttemptDependencies,
  input: AttemptInput,
  context: AttemptContext,
): Promise<AttemptOutput> {
  const beat = setInterval(context.heartbeat, HEARTBEAT_MS);
  try {
    return await new AttemptRun(deps, input, context).run();
  } finally {
    clearInterval(beat);
  }
}

class AttemptRun {
  readonly #deps: AttemptDependencies;
  readonly #input: AttemptInput;
  readonly #context: AttemptContext;
  readonly #signers = new Map<string, WebhookSigner>();
  readonly #endAtMs: number;
  /** Reserved, but not sent: the endpoint got into trouble, changed or is busy, or the time was up. */
  readonly #unused: { readonly id: string; readonly number: number }[] = [];
  readonly #faults: unknown[] = [];
  /** The worker is shutting down, and there was more to attempt. */
  #interrupted = false;
  /** Endpoints as they were when last looked at. */
  readonly #endpoints = new Map<
    string,
    { readonly atMs: number; readonly read: Promise<SendableEndpoint | undefined> }
  >();
  /** The endpoint's line was full: its lane comes back then, in milliseconds since 1970. */
  #comeBackAtMs = 0;
  readonly #settled = new Set<string>();
  /** Last outcome of each endpoint: whether it acknowledged. */
  readonly #outcomes = new Map<string, boolean>();
  /** Endpoints of which deliveries were given up. */
  readonly #exhausted = new Set<string>();
  /** One place in the allowed lateness for the run, so that an endpoint's retries stay together. */
  readonly #lateness = Math.random();

  constructor(deps: AttemptDependencies, input: AttemptInput, context: AttemptContext) {
    this.#deps = deps;
    this.#input = input;
    this.#context = context;
    this.#endAtMs = performance.now() + RUN_MS[input.lane];
  }

  async run(): Promise<AttemptOutput> {
    const ids = [...this.#input.deliveryIds];
    const { db, notes } = this.#deps;
    await this.#attemptAll(ids);
    if (this.#unused.length > 0) await releaseAttempts(db, this.#unused);
    if (this.#faults.length > 0) throw this.#faults[0];
    await notes.write(this.#outcomes);
    if (this.#exhausted.size > 0) await this.#deps.reviewFailing([...this.#exhausted]);
    if (this.#interrupted) throw new Error('this worker is shutting down; another one goes on');
    // Each stays with the workflow that holds it.
    if (this.#input.lane === 'recovery') return { waiting: [] };
    return this.#settle(ids.filter((id) => !this.#settled.has(id)));
  }

  /** Resolves when every attempt that began has ended, also after a fault. */
  async #attemptAll(ids: readonly string[]): Promise<void> {
    const { lane } = this.#input;
    const size = WINDOW[lane];
    const attempts: Promise<void>[] = [];
    try {
      for (let at = 0; at < ids.length && this.#comeBackAtMs === 0 && this.#mayBegin(); at += size) {
        const window = await this.#reserve(ids.slice(at, at + size));
        const reservedAtMs = performance.now();
        const running = window.map((attempt) => this.#attempt(attempt, reservedAtMs));
        attempts.push(...running);
        if (at + size < ids.length) await halfDone(running, lane === 'fan-out' ? NEXT_WINDOW_MS : undefined);
      }
    } catch (error) {
      this.#faults.push(error);
    }
    await Promise.all(attempts);
  }

  #mayBegin(): boolean {
    if (this.#deps.draining.aborted) this.#interrupted = true;
    const stopped = this.#interrupted || this.#context.givenUp.aborted || this.#faults.length > 0;
    return !stopped && performance.now() < this.#endAtMs;
  }

  #reserve(ids: readonly string[]): Promise<ReservedAttempt[]> {
    const { db, now } = this.#deps;
    const { lane } = this.#input;
    if (lane === 'manual') return reserveManualAttempts(db, ids);
    return lane === 'recovery' ? reserveRecoveryAttempts(db, ids) : reserveAttempts(db, ids, new Date(now()));
  }

  /** Never rejects: what goes wrong is an outcome, or one of `#faults`. */
  async #attempt(reserved: ReservedAttempt, reservedAtMs: number): Promise<void> {
    const { slots, sender, recorder, log } = this.#deps;
    const { lane } = this.#input;
    const slot = await slots.acquire(reserved.endpointId, lane);
    if (!this.#mayBegin() || slot === undefined) {
      if (slot === undefined && lane === 'endpoint')
        this.#comeBackAtMs = this.#deps.now() + slots.comeBackInMs(reserved.endpointId);
      slot?.release();
      this.#unused.push(reserved);
      return;
    }
    let delivered: boolean | undefined;
    let leave = () => {};
    try {
      leave = await sender.enter(reserved.url);
      await recorder.ready();
      const attempt = await this.#asItIsNow(reserved, reservedAtMs);
      const result = attempt === undefined ? undefined : await this.#send(attempt);
      delivered = result === undefined ? undefined : result.error === null;
      slot.release(delivered);
      leave();
      leave = () => {};
      if (attempt === undefined || result === undefined) this.#unused.push(reserved);
      else await this.#take(attempt, result);
    } catch (error) {
      if (delivered === undefined) {
        // A secret that does not open, a payload that cannot be read: nothing was sent.
        slot.release();
        this.#unused.push(reserved);
        log.error({ deliveryId: reserved.id, error: messageOf(error) }, 'a delivery could not be attempted');
        // In its own lane it is tried until the fault is mended; in a fan-out it must not hold its neighbours.
        if (lane === 'fan-out') return;
      }
      this.#faults.push(error);
    } finally {
      leave();
    }
  }

  /** The attempt with the endpoint's fields as they are now, or undefined when nothing may be sent to it any more. */
  async #asItIsNow(reserved: ReservedAttempt, reservedAtMs: number): Promise<ReservedAttempt | undefined> {
    const nowMs = performance.now();
    const freshMs = FRESH_MS[this.#input.lane];
    if (nowMs - reservedAtMs < freshMs) return reserved;
    let known = this.#endpoints.get(reserved.endpointId);
    if (known === undefined || nowMs - known.atMs >= freshMs) {
      known = { atMs: nowMs, read: sendableEndpoint(this.#deps.db, reserved.endpointId) };
      this.#endpoints.set(reserved.endpointId, known);
    }
    const endpoint = await known.read;
    return endpoint === undefined ? undefined : { ...reserved, ...endpoint };
  }

  async #send(attempt: ReservedAttempt): Promise<AttemptResult> {
    const { db, sender } = this.#deps;
    const payload = attempt.payload ?? (await eventPayloadOf(db, attempt.eventId));
    if (payload === undefined) throw new Error(`the event ${attempt.eventId} is gone`);
    return sender.send({
      deliveryId: attempt.id,
      url: attempt.url,
      eventType: attempt.eventType,
      payload,
      signer: this.#signer(attempt),
      authHeader: this.#authHeader(attempt),
    });
  }

  /** Records what came of an attempt. */
  async #take(attempt: ReservedAttempt, result: AttemptResult): Promise<void> {
    const { db, recorder, onEndpointGone } = this.#deps;
    const record = this.#judge(attempt, result);
    count(record, attempt);
    await recorder.record(record);
    if (record.status === 'success' || record.status === 'exhausted') this.#settled.add(attempt.id);
    if (record.status === 'exhausted') this.#exhausted.add(attempt.endpointId);
    this.#outcomes.set(attempt.endpointId, result.error === null);
    if (result.responseCode === GONE && (await disableGoneEndpoint(db, attempt.endpointId, attempt.url)))
      onEndpointGone(attempt.endpointId);
  }

  #judge(attempt: ReservedAttempt, result: AttemptResult): AttemptRecord {
    const manual = this.#input.lane === 'manual' || this.#input.lane === 'recovery';
    const base = {
      deliveryId: attempt.id,
      number: attempt.number,
      trigger: manual ? ('manual' as const) : ('automatic' as const),
      startedAt: result.startedAt,
      durationMs: result.durationMs,
      responseCode: result.responseCode,
      error: result.error,
      responseHeaders: result.responseHeaders,
      responseBody: result.responseBody,
      remoteAddress: result.remoteAddress,
      lastError: result.error === null ? null : (result.message ?? result.error),
      nextAttemptAt: null,
      workflowId: null,
    };
    if (result.error === null) return { ...base, status: 'success', reason: null };
    // A resend of a given-up delivery is one more try, not a new ladder.
    if (attempt.status === 'exhausted') return { ...base, status: 'exhausted', reason: 'attempts_exhausted' };
    if (result.error === 'unsafe_destination') return { ...base, status: 'exhausted', reason: 'unsafe_destination' };
    if (result.responseCode === GONE) return { ...base, status: 'exhausted', reason: 'endpoint_gone' };
    const delayMs = retryDelayMs(this.#input.ladderMs, attempt.number, this.#lateness, result.retryAfterMs);
    if (delayMs === undefined || attempt.number >= attempt.maxAttempts)
      return { ...base, status: 'exhausted', reason: 'attempts_exhausted' };
    return {
      ...base,
      status: 'failed',
      reason: null,
      nextAttemptAt: new Date(this.#deps.now() + delayMs),
      workflowId:
        this.#input.lane === 'fan-out' ? endpointDeliveryId(attempt.endpointId, this.#context.workflowId) : null,
    };
  }

  /** Ends what may not be sent any more and returns what is still owed, by endpoint. */
  async #settle(ids: readonly string[]): Promise<AttemptOutput> {
    if (ids.length === 0) return { waiting: [] };
    const { workflowId } = this.#context;
    const holder =
      this.#input.lane === 'fan-out'
        ? { prefix: 'delivery/', suffix: `/${workflowId}` }
        : { prefix: '', suffix: workflowId };
    const open = await settleUnattempted(this.#deps.db, ids, holder);
    const nowMs = this.#deps.now();
    const endpoints = new Map<string, WaitingEndpoint & { deliveries: { id: string; dueAtMs: number }[] }>();
    for (const delivery of open) {
      let endpoint = endpoints.get(delivery.endpointId);
      if (endpoint === undefined) {
        const { endpointId, organizationId, mailboxId } = delivery;
        endpoint = { endpointId, organizationId, mailboxId, deliveries: [] };
        endpoints.set(endpointId, endpoint);
      }
      const dueAtMs = delivery.nextAttemptAt?.getTime() ?? nowMs;
      endpoint.deliveries.push({ id: delivery.id, dueAtMs: Math.max(dueAtMs, this.#comeBackAtMs) });
    }
    return { waiting: [...endpoints.values()] };
  }

  #signer(attempt: ReservedAttempt): WebhookSigner {
    const key = `${attempt.secretSealed} ${attempt.previousSecretSealed}`;
    let signer = this.#signers.get(key);
    if (signer === undefined) {
      const sealed = [attempt.secretSealed, attempt.previousSecretSealed].filter((each) => each !== null);
      const place = webhookSecretPlace(attempt.endpointId);
      signer = webhookSigner(sealed.map((each) => this.#deps.secrets.open(each, place)));
      this.#signers.set(key, signer);
    }
    return signer;
  }

  #authHeader(attempt: ReservedAttempt): { name: string; value: string } | undefined {
    const { authHeaderName: name, authHeaderValueSealed: sealed, endpointId } = attempt;
    if (name === null || sealed === null) return undefined;
    return { name, value: this.#deps.secrets.open(sealed, authHeaderPlace(endpointId)) };
  }
}

function count(record: AttemptRecord, attempt: ReservedAttempt): void {
  attemptsTotal.inc({ outcome: record.error ?? 'delivered' });
  attemptSeconds.observe(record.durationMs / 1_000);
  if (record.reason !== null) exhaustedTotal.inc({ reason: record.reason });
  const recordedAtMs = timeOfIdMs(attempt.id);
  if (attempt.number > 1 || recordedAtMs === undefined) return;
  deliverySeconds.observe(Math.max(0, record.startedAt.getTime() + record.durationMs - recordedAtMs) / 1_000);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Resolves when half of the promises are settled or the time, if there is one, is up. */
function halfDone(promises: readonly Promise<unknown>[], timeMs: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = timeMs === undefined ? undefined : setTimeout(resolve, timeMs);
    let open = Math.ceil(promises.length / 2);
    const one = () => {
      if (--open > 0) return;
      clearTimeout(timer);
      resolve();
    };
    if (promises.length === 0) one();
    for (const promise of promises) promise.then(one, one);
  });
}
