/**
 * The activity that attempts deliveries: first attempts of a whole fan-out, or one endpoint's retries.
 *
 *   for each window of up to 100 deliveries
 *     reserve   attempt number + everything needed, in one statement; what it does not return is not sent
 *     send      under the endpoint's slots; results are recorded as they arrive
 *   settle      what was not acknowledged: final with a reason, or still owed → returned to the workflow
 *
 * An outcome is never an exception. What throws is our own fault (database away), and the engine tries again.
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
  settleUnattempted,
} from '../db/queries/attempts.ts';
import { disableGoneEndpoint } from '../db/queries/endpoint-health.ts';
import {
  type AttemptInput,
  type AttemptOutput,
  endpointDeliveryId,
  type WaitingEndpoint,
} from '../domain/delivery-workflows.ts';
import { timeOfIdMs } from '../domain/ids.ts';
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
  readonly log: Logger;
  readonly now: () => number;
}

/** Where an activity runs: its workflow, and a sign of life for the engine. */
export interface AttemptContext {
  readonly workflowId: string;
  readonly heartbeat: () => void;
}

const GONE = 410;
const WINDOW = 100;
/** The next window starts when half of this one is done, or after this time. */
const NEXT_WINDOW_MS = 50;
/** One run of an endpoint's lane starts no new attempts after this; the workflow calls again for the rest. */
const LANE_RUN_MS = 30_000;
const HEARTBEAT_MS = 1_000;

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
  readonly #endAtMs = performance.now() + LANE_RUN_MS;
  /** Reserved, but not sent: the endpoint got into trouble, or the time was up. */
  readonly #unused: string[] = [];
  readonly #settled = new Set<string>();
  /** Last outcome of each endpoint: whether it acknowledged. */
  readonly #outcomes = new Map<string, boolean>();
  /** One place in the allowed lateness for the run, so that an endpoint's retries stay together. */
  readonly #lateness = Math.random();

  constructor(deps: AttemptDependencies, input: AttemptInput, context: AttemptContext) {
    this.#deps = deps;
    this.#input = input;
    this.#context = context;
  }

  async run(): Promise<AttemptOutput> {
    const ids = [...this.#input.deliveryIds];
    const attempts: Promise<void>[] = [];
    for (let at = 0; at < ids.length && performance.now() < this.#endAtMs; at += WINDOW) {
      const window = await this.#reserve(ids.slice(at, at + WINDOW));
      const running = window.map((attempt) => this.#attempt(attempt));
      attempts.push(...running);
      if (at + WINDOW < ids.length) await halfDone(running, NEXT_WINDOW_MS);
    }
    const results = await Promise.allSettled(attempts);
    const { db, notes } = this.#deps;
    if (this.#unused.length > 0) await releaseAttempts(db, this.#unused);
    const fault = results.find((result) => result.status === 'rejected');
    if (fault !== undefined) throw fault.reason;
    await notes.write(this.#outcomes);
    return this.#settle(ids.filter((id) => !this.#settled.has(id)));
  }

  #reserve(ids: readonly string[]): Promise<ReservedAttempt[]> {
    const { db, now } = this.#deps;
    return this.#input.lane === 'manual' ? reserveManualAttempts(db, ids) : reserveAttempts(db, ids, new Date(now()));
  }

  async #attempt(attempt: ReservedAttempt): Promise<void> {
    const { db, slots, sender, recorder, onEndpointGone } = this.#deps;
    const slot = await slots.acquire(attempt.endpointId, this.#input.lane !== 'fan-out');
    if (slot === undefined || performance.now() > this.#endAtMs) {
      slot?.release(true);
      this.#unused.push(attempt.id);
      return;
    }
    let result: AttemptResult;
    try {
      await recorder.ready();
      result = await sender.send({
        deliveryId: attempt.id,
        url: attempt.url,
        eventType: attempt.eventType,
        payload: attempt.payload ?? (await eventPayloadOf(db, attempt.eventId)) ?? '',
        signer: this.#signer(attempt),
        authHeader: this.#authHeader(attempt),
      });
    } catch (error) {
      slot.release(false);
      throw error; // a secret that does not open, a payload that cannot be read
    }
    slot.release(result.error === null);
    const record = this.#judge(attempt, result);
    count(record, attempt);
    await recorder.record(record);
    if (record.status === 'success' || record.status === 'exhausted') this.#settled.add(attempt.id);
    this.#outcomes.set(attempt.endpointId, result.error === null);
    if (result.responseCode === GONE && (await disableGoneEndpoint(db, attempt.endpointId, attempt.url)))
      onEndpointGone(attempt.endpointId);
  }

  #judge(attempt: ReservedAttempt, result: AttemptResult): AttemptRecord {
    const manual = this.#input.lane === 'manual';
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
      endpoint.deliveries.push({ id: delivery.id, dueAtMs: delivery.nextAttemptAt?.getTime() ?? nowMs });
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

/** Resolves when half of the promises are settled or the time is up. */
function halfDone(promises: readonly Promise<unknown>[], timeMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeMs);
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
