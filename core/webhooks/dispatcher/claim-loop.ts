/**
 * Claims what is due whenever it is woken, and hands it on: deliveries of slow endpoints to their lanes, all others to a
 * batch. It looks without a wake-up every second, which covers lost ones.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { wakeablePause } from '#core/platform/batching/pauses.ts';
import { fanOutsTotal } from '#core/platform/log/metrics.ts';
import type { ClaimedDelivery } from '#db/queries/deliveries/claim-deliveries.ts';
import { FAN_OUT_BATCH_MAX } from '#domain/webhooks/delivery-limits.ts';
import type { Claims } from './claims.ts';
import { type DispatcherState } from './dispatcher-state.ts';
import { type FanOutBatches, NEXT_BATCH_MS } from './fan-out-batches.ts';
import { IN_FLIGHT_MAX } from './in-flight.ts';
import type { SlowLanes } from './slow-lanes.ts';

export interface ClaimLoop {
  /** Deliveries may wait. */
  wake(): void;
  /** Resolves when the loop has ended. Set `closed` of the state before. */
  close(): Promise<void>;
}

/** When a loop claims. */
export interface ClaimPace {
  /** From a wake-up to the claim, in milliseconds. */
  readonly afterWakeMs: number;
  /** Least time between two claims that found something, in milliseconds. */
  readonly gatherMs: number;
  /** Only deliveries made before this time, in milliseconds since 1970, are claimed; default: all. */
  readonly madeBeforeMs?: number | undefined;
}

export interface ClaimLoopParts {
  readonly state: DispatcherState;
  readonly claims: Claims<ClaimedDelivery>;
  readonly pace: ClaimPace;
  readonly batches: Pick<FanOutBatches, 'run' | 'untilEngineHasRoom'>;
  readonly lanes: Pick<SlowLanes, 'run'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const IDLE_LOOK_MS = 1_000;
const RETRY_MS = 1_000;

export function startClaimLoop({ state, claims, pace, batches, lanes, now }: ClaimLoopParts): ClaimLoop {
  const { pause: sleep, wake: endSleep } = wakeablePause(() => state.closed);
  let woken = true; // what waited before this process began
  let claimedAtMs = Number.NEGATIVE_INFINITY;

  async function claimOnce(wasWoken: boolean): Promise<void> {
    const room = Math.min(FAN_OUT_BATCH_MAX, IN_FLIGHT_MAX - state.inFlight);
    if (room <= 0) {
      woken = true;
      return delay(NEXT_BATCH_MS);
    }
    // A lone event is claimed at once; what follows it closely is claimed together.
    const waitMs = Math.max(wasWoken ? pace.afterWakeMs : 0, claimedAtMs + pace.gatherMs - performance.now());
    if (waitMs > 0 && !claims.backlog) await delay(waitMs);
    const bounds = { room, nowMs: now(), madeBeforeMs: pace.madeBeforeMs };
    const { claimId: fanOutId, claimed, mayBeMore } = await claims.next(bounds);
    if (mayBeMore) woken = true;
    if (claimed.length === 0) return;
    claimedAtMs = performance.now();
    const isSlow = ({ troubled, inLane }: ClaimedDelivery) => troubled === true && !inLane;
    const slow = claimed.filter(isSlow);
    if (slow.length > 0) void lanes.run(fanOutId, slow);
    const others = claimed.filter((delivery) => !isSlow(delivery));
    if (others.length === 0) return;
    fanOutsTotal.inc();
    await batches.run(fanOutId, others);
  }

  async function loop(): Promise<void> {
    while (!state.closed) {
      if (!woken) await sleep(IDLE_LOOK_MS);
      await batches.untilEngineHasRoom();
      if (state.closed) return;
      const wasWoken = woken;
      woken = false;
      try {
        await claimOnce(wasWoken);
      } catch {
        await sleep(RETRY_MS * (0.5 + Math.random() / 2));
        woken = true;
      }
    }
  }

  const ended = loop();
  return {
    wake() {
      woken = true;
      endSleep();
    },
    close() {
      endSleep();
      return ended;
    },
  };
}
