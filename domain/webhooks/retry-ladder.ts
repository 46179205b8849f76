/** When a failed delivery is tried again (interface §6 and §8). */
import { CARRY_GATHER_MS } from './delivery-limits.ts';

/** Waits after the first, second, third and fourth failed attempt, in milliseconds. */
export const RETRY_DELAYS_MS: readonly number[] = [30_000, 120_000, 600_000, 1_800_000];

/** Attempts of one delivery at most, the first included. */
export const MAX_DELIVERY_ATTEMPTS = 5;

/**
 * A retry is never earlier than its delay and up to 5 % later: up to 2 % so that retries do not run in lockstep, and up
 * to 3 % of the first delay because deliveries of one endpoint that are due close together are grouped.
 */
export const RETRY_JITTER_RATIO = 0.02;
export const RETRY_GROUPING_RATIO = 0.03;

/**
 * How long deliveries gather before one workflow carries them, in milliseconds: with a short ladder less, so that it
 * has begun before the first retry is due.
 */
export const carryGatherMs = (ladder: readonly number[]): number =>
  Math.min(CARRY_GATHER_MS, (ladder[0] ?? Number.POSITIVE_INFINITY) * RETRY_GROUPING_RATIO);

/** A Retry-After answer may lengthen a wait up to this, never shorten it. */
export const MAX_RETRY_AFTER_MS = 1_800_000;

/**
 * Milliseconds to wait after the failed attempt with this number (1 = the first), or undefined when none is left.
 *
 * @param random a number in [0, 1): the position within the allowed lateness
 * @param retryAfterMs Retry-After of the destination, if any
 */
export function retryDelayMs(
  ladder: readonly number[],
  failedAttempt: number,
  random: number,
  retryAfterMs?: number,
): number | undefined {
  const step = ladder[failedAttempt - 1];
  if (step === undefined) return undefined;
  const jittered = Math.round(step * (1 + RETRY_JITTER_RATIO * random));
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}
