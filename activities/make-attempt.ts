/**
 * One attempt, from its reserved number to its recorded result: a slot of the endpoint, a place at the origin, a last
 * check, the request, the record. Workflows and the fast lane make attempts this way alone.
 */
import type { Logger } from '#core/platform/log/logger.ts';
import type { PatientDatabase } from '#core/platform/process/patient-database.ts';
import type { SealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import type { AttemptResult, WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import type { Sql } from '#db/database.ts';
import { type AttemptRecord, eventPayloadOf, type ReservedAttempt } from '#db/queries/deliveries/attempts.ts';
import { type SendableEndpoint, sendableEndpoint } from '#db/queries/deliveries/sendable-endpoint.ts';
import { disableGoneEndpoint } from '#db/queries/webhooks/endpoint-health.ts';
import type { AttemptInput } from '#domain/webhooks/delivery-workflows.ts';
import { type AttemptedBy, countAttempt, recordOf } from './attempt-record.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import { type EndpointCredentials, endpointCredentials } from './endpoint-credentials.ts';
import type { EndpointNotes } from './endpoint-notes.ts';
import type { EndpointSlots, Slot } from './endpoint-slots.ts';

export interface AttemptDependencies {
  readonly db: PatientDatabase;
  /** For statements that are repeated often on partitioned tables (`db/connections.ts`). */
  readonly steady: Sql;
  readonly secrets: SealedSecrets;
  readonly sender: WebhookSender;
  readonly slots: EndpointSlots;
  readonly recorder: AttemptRecorder;
  readonly notes: EndpointNotes;
  /** Called when an endpoint was set inactive because every attempt of a delivery was answered with 410. */
  readonly onEndpointGone: (endpointId: string) => void;
  /** Called when attempts of deliveries of these endpoints were used up: some may have failed for too long. */
  readonly reviewFailing: (endpointIds: readonly string[]) => Promise<void>;
  /** Aborted when the worker shuts down: requests in flight end, no others start. */
  readonly draining: AbortSignal;
  readonly log: Logger;
  readonly now: () => number;
}

/** The run that attempts belong to. */
export interface AttemptingRun extends Omit<AttemptedBy, 'nowMs'> {
  /** Asked before every step: false ends it, and nothing is sent. */
  mayBegin(): boolean;
}

export type AttemptEnd =
  | { readonly kind: 'recorded'; readonly record: AttemptRecord }
  /** Nothing was sent: the endpoint is failing, changed or busy, the time is up, or by an infrastructure error. */
  | { readonly kind: 'unsent'; readonly withoutSlot: boolean; readonly fault?: unknown }
  /** It was sent, and its result is stored in no form. */
  | { readonly kind: 'unrecorded'; readonly fault: unknown };

/** Makes an attempt. Never rejects. @param reservedAtMs when the fields of the endpoint were read, `performance.now()` */
export type MakeAttempt = (reserved: ReservedAttempt, reservedAtMs: number) => Promise<AttemptEnd>;

const GONE = 410;
/** Endpoint data older than this is read again before sending. */
const FRESH_MS: Record<AttemptInput['lane'], number> = { 'fan-out': 200, endpoint: 5, manual: 5, recovery: 5 };

/** Attempts of one run, which share what was read and opened for them. */
export function attemptMaker(deps: AttemptDependencies, run: AttemptingRun): MakeAttempt {
  const { db, sender, slots, recorder, log, now, onEndpointGone } = deps;
  const credentials: EndpointCredentials = endpointCredentials(deps.secrets);
  /** Endpoints as they were at the last read. */
  const endpoints = new Map<string, { readonly atMs: number; readonly read: Promise<SendableEndpoint | undefined> }>();

  /** The attempt with the endpoint's current fields, or undefined if nothing may be sent to it any more. */
  async function asItIsNow(reserved: ReservedAttempt, reservedAtMs: number): Promise<ReservedAttempt | undefined> {
    const nowMs = performance.now();
    const freshMs = FRESH_MS[run.lane];
    if (nowMs - reservedAtMs < freshMs) return reserved;
    let known = endpoints.get(reserved.endpointId);
    if (known === undefined || nowMs - known.atMs >= freshMs) {
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

  const send = (attempt: ReservedAttempt, payload: string): Promise<AttemptResult> =>
    sender.send({
      deliveryId: attempt.id,
      url: attempt.url,
      eventType: attempt.eventType,
      payload,
      signer: credentials.signer(attempt),
      authHeader: credentials.authHeader(attempt),
    });

  /**
   * Waits until results can be written and for a place at the origin, then checks everything again: the worker may be
   * shutting down, the endpoint may have changed, or the time may be over.
   *
   * @returns undefined if nothing was sent and nothing may be sent
   */
  async function sendInTurn(reserved: ReservedAttempt, reservedAtMs: number, slot: Slot): Promise<Sent | undefined> {
    if (!(await recorder.ready(() => run.mayBegin()))) return undefined;
    const leave = await sender.enter(reserved.url, run.lane !== 'fan-out');
    if (leave === undefined) return undefined;
    try {
      const attempt = await asItIsNow(reserved, reservedAtMs);
      const payload = attempt === undefined ? undefined : await payloadOf(attempt);
      if (attempt === undefined || payload === undefined) return undefined;
      // No other step may come between this check and the request.
      if (!run.mayBegin() || !recorder.isWell) return undefined;
      slot.begin();
      return { attempt, result: await send(attempt, payload) };
    } finally {
      leave();
    }
  }

  async function record({ attempt, result }: Sent): Promise<AttemptEnd> {
    const written = recordOf(attempt, result, { ...run, nowMs: now() });
    countAttempt(written, attempt);
    try {
      await recorder.record(written);
      if (result.responseCode === GONE && written.status === 'exhausted')
        if (await disableGoneEndpoint(db, attempt.endpointId, attempt.url, attempt.id))
          onEndpointGone(attempt.endpointId);
    } catch (fault) {
      return { kind: 'unrecorded', fault };
    }
    return { kind: 'recorded', record: written };
  }

  return async (reserved, reservedAtMs) => {
    const slot = await slots.acquire(reserved.endpointId, run.lane);
    if (slot === undefined) return { kind: 'unsent', withoutSlot: true };
    if (!run.mayBegin()) {
      slot.release();
      return { kind: 'unsent', withoutSlot: false };
    }
    let sent: Sent | undefined;
    let fault: unknown;
    try {
      sent = await sendInTurn(reserved, reservedAtMs, slot);
    } catch (error) {
      // A secret that does not open, a payload that cannot be read: nothing was sent.
      log.error({ deliveryId: reserved.id, error: messageOf(error) }, 'a delivery could not be attempted');
      fault = error;
    }
    slot.release(sent === undefined ? undefined : sent.result.error === null);
    return sent === undefined ? { kind: 'unsent', withoutSlot: false, fault } : record(sent);
  };
}

/** An attempt that was made. */
interface Sent {
  readonly attempt: ReservedAttempt;
  readonly result: AttemptResult;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
