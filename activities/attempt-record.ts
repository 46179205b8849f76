/** The record of an attempt: its outcome, the status of the delivery after it, and when the next one is due. */
import { attemptSeconds, attemptsTotal, deliverySeconds, exhaustedTotal } from '#core/platform/log/metrics.ts';
import type { AttemptResult } from '#core/webhooks/requests/webhook-sender.ts';
import type { AttemptRecord, ReservedAttempt } from '#db/queries/deliveries/attempts.ts';
import { timeOfIdMs } from '#domain/ids.ts';
import { type AttemptInput, endpointDeliveryId } from '#domain/webhooks/delivery-workflows.ts';
import { retryDelayMs } from '#domain/webhooks/retry-ladder.ts';

/** The run that made the attempt. */
export interface AttemptedBy extends Pick<AttemptInput, 'lane' | 'ladderMs'> {
  /** Null: of a fast lane, the workflow begins later. */
  readonly workflowId: string | null;
  /** 0 to 1: the place in the allowed lateness of retries. */
  readonly lateness: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

export function recordOf(attempt: ReservedAttempt, result: AttemptResult, run: AttemptedBy): AttemptRecord {
  const manual = run.lane === 'manual' || run.lane === 'recovery';
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
    nextAttemptAt: new Date(run.nowMs + delayMs),
    workflowId:
      run.lane === 'fan-out' && run.workflowId !== null ? endpointDeliveryId(attempt.endpointId, run.workflowId) : null,
  };
}

/** Adds an attempt to the metrics. */
export function countAttempt(record: AttemptRecord, attempt: ReservedAttempt): void {
  attemptsTotal.inc({ outcome: record.error ?? 'delivered' });
  attemptSeconds.observe(record.durationMs / 1_000);
  if (record.reason !== null) exhaustedTotal.inc({ reason: record.reason });
  const recordedAtMs = timeOfIdMs(attempt.id);
  if (attempt.number > 1 || recordedAtMs === undefined) return;
  deliverySeconds.observe(Math.max(0, record.startedAt.getTime() + record.durationMs - recordedAtMs) / 1_000);
}
