/**
 * One attempt, from its reserved number to its stored result. Workflows and the fast lane make attempts this way alone.
 *
 *   slot of the endpoint ─▶ place at the origin ─▶ last check ─▶ request ─▶ record: its outcome, the status of the
 *        └──────────────────────┴────────────────────┴─▶ nothing sent          delivery, when the next one is due
 *
 * **Recorder.** Writes results as they arrive, many in one commit: those that arrive during a write are written
 * together. Fewer than four wait for more, for ten milliseconds. So a hanging neighbour delays no result, and a busy
 * worker makes few commits.
 *
 *   unproven ──a probe was written──▶ well ──a write failed by the database's fault──▶ failing ──written──▶ well
 *
 * While the database is unreachable, full or read-only, results are kept and written again as long as the process runs:
 * lost ones would be sent twice. Until they are written nothing further is sent. A batch with a row that PostgreSQL
 * refuses is written row by row, that row in a form that PostgreSQL accepts.
 */

import { batcher, inOrder } from '#core/platform/batching/batcher.ts';
import { type Circuit, circuit } from '#core/platform/batching/circuit.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import {
  attemptSeconds,
  attemptsTotal,
  exhaustedTotal,
  firstAttemptDelaySeconds,
  firstOutcomeSeconds,
} from '#core/platform/log/metrics.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { DATABASE, type PatientDatabase } from '#core/platform/process/patient-database.ts';
import type { SealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { keptContext } from '#core/platform/tracing/kept-context.ts';
import { isTracing } from '#core/platform/tracing/trace.ts';
import type { AttemptResult, WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import {
  authHeaderPlace,
  signingKeyPlace,
  type WebhookSigner,
  webhookSecretPlace,
  webhookSigner,
} from '#core/webhooks/signing/webhook-signature.ts';
import type { Sql } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import {
  type AttemptRecord,
  eventPayloadOf,
  type ReservedAttempt,
  recordAttempts,
  type SendableEndpoint,
  sendableEndpoint,
} from '#db/queries/deliveries/attempts.ts';
import { timeOfIdMs } from '#domain/ids.ts';
import { type AttemptKind, endpointDeliveryId } from '#domain/webhooks/delivery-workflows.ts';
import { retryDelayMs } from '#domain/webhooks/retry-ladder.ts';
import { inAttemptSpan } from './attempt-span.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import type { EndpointSlots, Slot } from './endpoint-slots.ts';

export interface AttemptDependencies {
  readonly db: PatientDatabase;
  /** For statements that are repeated often on partitioned tables (`db/connections.ts`). */
  readonly steady: Sql;
  readonly secrets: SealedSecrets;
  readonly sender: WebhookSender;
  readonly slots: EndpointSlots;
  readonly recorder: AttemptRecorder;
  readonly health: EndpointHealth;
  /** Aborted when the worker shuts down: requests in flight end, no others start. */
  readonly draining: AbortSignal;
  readonly log: Logger;
  readonly now: () => number;
}

/** The run that attempts belong to. */
export interface AttemptingRun {
  readonly kind: AttemptKind;
  /** Waits after each failed attempt. */
  readonly ladderMs: readonly number[];
  /** Null: of a fast lane, the workflow begins later. */
  readonly workflowId: string | null;
  /** 0 to 1: the place in the allowed lateness of retries. */
  readonly lateness: number;
  /** Asked before every step: false ends it, and nothing is sent. @param reservedAtMs of the attempt, `performance.now()` */
  mayBegin(reservedAtMs: number): boolean;
}

export type AttemptEnd =
  | { readonly kind: 'recorded'; readonly record: AttemptRecord }
  /** Nothing was sent: the endpoint is failing, changed or busy, the time is up, or by an infrastructure error. */
  | { readonly kind: 'unsent'; readonly withoutSlot: boolean; readonly fault?: unknown }
  /** It was sent, and its result is stored in no form. */
  | { readonly kind: 'unrecorded'; readonly fault: unknown };

/**
 * Makes an attempt. Never rejects.
 *
 * @param reservedAtMs before the statement that reserved it, `performance.now()`
 * @param readAtMs when the fields of the endpoint were read; default: then
 */
export type MakeAttempt = (reserved: ReservedAttempt, reservedAtMs: number, readAtMs?: number) => Promise<AttemptEnd>;

const GONE = 410;
/** Endpoint data older than this is read again before sending. */
const FRESH_MS: Record<AttemptKind, number> = { 'fan-out': 200, endpoint: 5, manual: 5, recovery: 5 };

/** Attempts of one run, which share what was read and opened for them. */
export function attemptMaker(deps: AttemptDependencies, run: AttemptingRun): MakeAttempt {
  const { db, sender, slots, recorder, health, log, now } = deps;
  const credentials = endpointCredentials(deps.secrets);
  /** Endpoints as they were at the last read. */
  const endpoints = new Map<string, { readonly atMs: number; readonly read: Promise<SendableEndpoint | undefined> }>();

  /** The attempt with the endpoint's current fields, or undefined if nothing may be sent to it any more. */
  async function asItIsNow(
    reserved: ReservedAttempt,
    { readAtMs, givenAtMs }: AttemptTimes,
  ): Promise<ReservedAttempt | undefined> {
    const nowMs = performance.now();
    const freshMs = FRESH_MS[run.kind];
    if (nowMs - readAtMs < freshMs) return reserved;
    let known = endpoints.get(reserved.endpointId);
    // Not what was read for others before: a change between that and this delivery would be missed.
    if (known === undefined || nowMs - known.atMs >= freshMs || known.atMs < givenAtMs) {
      known = { atMs: nowMs, read: sendableEndpoint(db, reserved.endpointId) };
      endpoints.set(reserved.endpointId, known);
    }
    const endpoint = await known.read;
    return endpoint === undefined ? undefined : { ...reserved, ...endpoint };
  }

  async function payloadOf(attempt: ReservedAttempt): Promise<string> {
    const payload = attempt.payload ?? (await eventPayloadOf(db, attempt));
    if (payload === undefined) throw new Error(`the event ${attempt.eventId} is gone`);
    return payload;
  }

  const send = (attempt: ReservedAttempt, payload: string, context: string | undefined): Promise<AttemptResult> =>
    inAttemptSpan(attempt, run, context, (traceparent) =>
      sender.send({
        deliveryId: attempt.id,
        url: attempt.url,
        eventType: attempt.eventType,
        payload,
        signer: credentials.signer(attempt),
        authHeader: credentials.authHeader(attempt),
        traceparent,
      }),
    );

  /**
   * Waits until results can be written and for a place at the origin, then checks everything again: the worker may be
   * shutting down, the endpoint may have changed, or the time may be over.
   *
   * @returns undefined if nothing was sent and nothing may be sent
   */
  async function sendInTurn(reserved: ReservedAttempt, times: AttemptTimes, slot: Slot): Promise<Sent | undefined> {
    if (!(await recorder.ready(() => run.mayBegin(times.reservedAtMs)))) return undefined;
    const leave = await sender.enter(reserved.url, run.kind !== 'fan-out');
    if (leave === undefined) return undefined;
    try {
      const attempt = await asItIsNow(reserved, times);
      const payload = attempt === undefined ? undefined : await payloadOf(attempt);
      if (attempt === undefined || payload === undefined) return undefined;
      const context = isTracing() ? await keptContext(db, attempt.eventId) : undefined;
      // No other step may come between this check and the request.
      if (!run.mayBegin(times.reservedAtMs) || !recorder.isWell) return undefined;
      slot.begin();
      return { attempt, result: await send(attempt, payload, context) };
    } finally {
      leave();
    }
  }

  async function record({ attempt, result }: Sent): Promise<AttemptEnd> {
    const written = recordOf(attempt, result, run, now());
    countAttempt(written, attempt);
    try {
      await recorder.record(written);
      if (result.responseCode === GONE && written.status === 'exhausted') await health.gone(attempt);
    } catch (fault) {
      return { kind: 'unrecorded', fault };
    }
    return { kind: 'recorded', record: written };
  }

  return async (reserved, reservedAtMs, readAtMs = reservedAtMs) => {
    const times = { reservedAtMs, readAtMs, givenAtMs: performance.now() };
    const slot = await slots.acquire(reserved.endpointId, run.kind);
    if (slot === undefined) return { kind: 'unsent', withoutSlot: true };
    if (!run.mayBegin(reservedAtMs)) {
      slot.release();
      return { kind: 'unsent', withoutSlot: false };
    }
    let sent: Sent | undefined;
    let fault: unknown;
    try {
      sent = await sendInTurn(reserved, times, slot);
    } catch (error) {
      // A secret that does not open, a payload that cannot be read: nothing was sent.
      log.error({ deliveryId: reserved.id, error: reasonOf(error) }, 'a delivery could not be attempted');
      fault = error;
    }
    slot.release(sent === undefined ? undefined : sent.result.error === null);
    return sent === undefined ? { kind: 'unsent', withoutSlot: false, fault } : record(sent);
  };
}

/** Times of `performance.now()`. */
interface AttemptTimes {
  readonly reservedAtMs: number;
  /** When the fields of the endpoint were read. */
  readonly readAtMs: number;
  /** After the reservation was committed. */
  readonly givenAtMs: number;
}

/** An attempt that was made. */
interface Sent {
  readonly attempt: ReservedAttempt;
  readonly result: AttemptResult;
}

function recordOf(attempt: ReservedAttempt, result: AttemptResult, run: AttemptingRun, nowMs: number): AttemptRecord {
  const manual = run.kind === 'manual' || run.kind === 'recovery';
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
  if (result.error === 'unsafe_destination') return { ...base, status: 'exhausted', reason: 'unsafe_destination' };
  // A resend of a given-up delivery is one more try, not a new ladder.
  if (attempt.status === 'exhausted') return { ...base, status: 'exhausted', reason: 'attempts_exhausted' };
  const delayMs = retryDelayMs(run.ladderMs, attempt.number, run.lateness, result.retryAfterMs);
  if (delayMs === undefined || attempt.number >= attempt.maxAttempts)
    return { ...base, status: 'exhausted', reason: 'attempts_exhausted' };
  return {
    ...base,
    status: 'failed',
    reason: null,
    nextAttemptAt: new Date(nowMs + delayMs),
    workflowId:
      run.kind === 'fan-out' && run.workflowId !== null ? endpointDeliveryId(attempt.endpointId, run.workflowId) : null,
  };
}

/** Adds an attempt to the metrics. */
function countAttempt(record: AttemptRecord, attempt: ReservedAttempt): void {
  attemptsTotal.inc({ outcome: record.error ?? 'delivered' });
  attemptSeconds.observe(record.durationMs / 1_000);
  if (record.reason !== null) exhaustedTotal.inc({ reason: record.reason });
  const recordedAtMs = timeOfIdMs(attempt.id);
  if (attempt.number > 1 || recordedAtMs === undefined) return;
  const waitedMs = record.startedAt.getTime() - recordedAtMs;
  firstAttemptDelaySeconds.observe(Math.max(0, waitedMs) / 1_000);
  firstOutcomeSeconds.observe(Math.max(0, waitedMs + record.durationMs) / 1_000);
}

/** The opened secrets of endpoints, for the time of one run. They throw if a secret does not open. */
function endpointCredentials(secrets: SealedSecrets) {
  const signers = new Map<string, WebhookSigner>();

  function signer(attempt: ReservedAttempt): WebhookSigner {
    const signingKeys = attempt.signingKeys ?? [];
    const key = [attempt.secretSealed, attempt.previousSecretSealed, ...signingKeys.map(([id]) => id)].join(' ');
    let known = signers.get(key);
    if (known === undefined) {
      const sealed = [attempt.secretSealed, attempt.previousSecretSealed].filter((each) => each !== null);
      const place = webhookSecretPlace(attempt.endpointId);
      known = webhookSigner(
        sealed.map((each) => secrets.open(each, place)),
        signingKeys.map(([id = '', privateKey = '']) => secrets.open(privateKey, signingKeyPlace(id))),
      );
      signers.set(key, known);
    }
    return known;
  }

  function authHeader(attempt: ReservedAttempt): { name: string; value: string } | undefined {
    const { authHeaderName: name, authHeaderValueSealed: sealed, endpointId } = attempt;
    if (name === null || sealed === null) return undefined;
    return { name, value: secrets.open(sealed, authHeaderPlace(endpointId)) };
  }

  return { signer, authHeader };
}

export interface AttemptRecorder {
  /**
   * Resolves when results can be written and few are waiting. Awaited before a number is reserved and before sending: a
   * crash sends unrecorded attempts twice, so a slow database must slow the sending.
   *
   * @param goOn polled during the wait; false ends the wait
   * @param doubtful results may not be writable, as far as the caller knows: tests first
   * @returns false when nothing may be sent: the worker shuts down, or the caller must not go on
   */
  ready(goOn: () => boolean, doubtful?: boolean): Promise<boolean>;
  /** Whether a result could be written when last one was. */
  readonly isWell: boolean;
  /** Resolves when the record is committed. Rejects only for one that PostgreSQL refuses in every form. */
  record(record: AttemptRecord): Promise<void>;
}

export interface RecorderDependencies {
  readonly sql: Sql;
  /** Writes a probe like a result; see `db/queries/platform/probe-writes.ts`. */
  readonly probe: () => Promise<void>;
  /** Aborted when the worker shuts down. */
  readonly draining: AbortSignal;
  readonly log: Logger;
}

const GATHER_MS = 10;
const RECORDS_PER_WRITE = 200;
/** Most results in one write. Results that are not written when the process dies are sent twice. */
const ENOUGH_FOR_WRITE = 4;
/** Results that may wait to be written before sending pauses. */
const UNWRITTEN_MAX = 24;
/** How often a waiting caller polls `goOn`. */
const LOOK_AGAIN_MS = 500;

export function attemptRecorder({ sql, probe, draining, log }: RecorderDependencies): AttemptRecorder {
  // Conflicts too: while a result cannot be written, the next attempt is not sent.
  const writes: Circuit = circuit({ isFault: isInfrastructureError, outage: outageLog(log, DATABASE) });
  let proven = false;
  /** Results not yet committed. */
  let unwritten = 0;
  let pausing: (() => void)[] = [];

  function resume(): void {
    const resumed = pausing;
    pausing = [];
    for (const each of resumed) each();
  }

  draining.addEventListener('abort', () => {
    resume();
    writes.wake();
  });

  /** Written in the first form that PostgreSQL accepts. */
  async function writeAlone(record: AttemptRecord): Promise<void> {
    let refusal: unknown;
    for (const form of [record, ...storableForms(record)]) {
      try {
        await writes.run(() => recordAttempts(sql, [form]));
        if (refusal !== undefined)
          log.warn({ deliveryId: record.deliveryId, error: reasonOf(refusal) }, 'a result was stored in part');
        return;
      } catch (error) {
        refusal = error;
      }
    }
    throw refusal;
  }

  const records = batcher<AttemptRecord, 'written'>({
    policy: {
      ...inOrder(RECORDS_PER_WRITE),
      gatherMs: (waiting) => (waiting >= ENOUGH_FOR_WRITE ? undefined : GATHER_MS),
    },
    concurrency: 1,
    async carryOut(batch) {
      const [only, ...others] = batch;
      try {
        if (only !== undefined && others.length === 0) await writeAlone(only);
        else await writes.run(() => recordAttempts(sql, batch));
      } finally {
        proven = true;
      }
      return batch.map(() => 'written');
    },
  });

  const mayGoOn = () => !draining.aborted;

  let proving: Promise<void> | undefined;
  async function probeOnce(): Promise<void> {
    await writes.run(probe, mayGoOn).catch((error: unknown) => {
      // Any error other than an infrastructure error is an error of the probe, not a reason to stop.
      if (isInfrastructureError(error)) throw error;
    });
    proven = true;
  }
  /** Several that doubt at once share a probe. */
  function prove(): Promise<void> {
    proving ??= probeOnce().finally(() => {
      proving = undefined;
    });
    return proving;
  }

  return {
    get isWell() {
      return !writes.isOpen;
    },
    async ready(goOn, doubtful = false) {
      let proof = doubtful || !proven ? prove() : undefined;
      const proved = () => {
        proof = undefined;
      };
      proof?.then(proved, proved); // it fails only when the worker shuts down
      while (mayGoOn() && goOn()) {
        if (proof !== undefined) await settledWithin(proof, LOOK_AGAIN_MS);
        else if (writes.isOpen) await writes.closed();
        else if (unwritten >= UNWRITTEN_MAX) await new Promise<void>((resolve) => pausing.push(resolve));
        else return true;
      }
      return false;
    },
    async record(record) {
      unwritten++;
      try {
        await records.add(record);
      } finally {
        unwritten--;
        if (unwritten < UNWRITTEN_MAX) resume();
      }
    },
  };
}

/** Resolves when a promise is settled, or after the time. */
function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const settled = () => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(settled, settled);
  });
}

/**
 * The result of an attempt in increasingly safe forms, for a row that PostgreSQL refused: without the characters that
 * text and JSON cannot contain (NUL, halves of surrogate pairs), then without the response.
 */
function storableForms(record: AttemptRecord): readonly AttemptRecord[] {
  const { responseHeaders, lastError } = record;
  return [
    {
      ...record,
      lastError: lastError === null ? null : storableText(lastError),
      responseHeaders:
        responseHeaders === null
          ? null
          : Object.fromEntries(
              Object.entries(responseHeaders).map(([name, value]) => [storableText(name), storableText(value)]),
            ),
    },
    {
      ...record,
      responseHeaders: null,
      responseBody: null,
      remoteAddress: null,
      lastError: record.error,
    },
  ];
}

const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '');
