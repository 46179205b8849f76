/**
 * Runs the claimed batches, each as one fan-out workflow, and says when the next may be claimed.
 *
 * Batches adapt to the load: a lone event is claimed at once; under load the next batch is what has accumulated while
 * the ones before ran. Two batches run side by side; a further one is taken when one of them has ended, or was started
 * and is 50 ms old. So a batch that waits for a hanging endpoint delays no other.
 *
 * A backlog that waits for the engine needs few workflows. While the engine accepts none, nothing is claimed. While it
 * accepts them but completes none, claims are rare and stop at 128 open fan-outs.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { EngineStarts } from '#core/platform/engine/engine-starts.ts';
import type { WorkflowFollower } from '#core/platform/engine/follow-workflow.ts';
import type { ClaimedDelivery } from '#db/queries/deliveries/claim-deliveries.ts';
import { type DispatcherState } from './dispatcher-state.ts';
import { gatherTime } from './gather-time.ts';
import type { CountInFlight } from './in-flight.ts';

export interface FanOutBatches {
  /** Least time between two claims that found something, in milliseconds. */
  readonly gatherMs: number;
  /** Resolves when the engine accepts starts and has ended enough of them. */
  untilEngineHasRoom(): Promise<void>;
  /** Runs a batch. Resolves when the next may be claimed, which is usually before its end. */
  run(fanOutId: string, claimed: readonly ClaimedDelivery[]): Promise<void>;
}

export interface BatchParts {
  readonly state: DispatcherState;
  readonly starts: Pick<EngineStarts, 'areStuck' | 'changed' | 'run'>;
  readonly follower: Pick<WorkflowFollower, 'follow'>;
  readonly count: CountInFlight;
  /** Starts the workflow; starting one that runs has no effect. */
  startFanOut(fanOutId: string, claimed: readonly ClaimedDelivery[]): Promise<WorkflowHandle>;
}

export const NEXT_BATCH_MS = 50;
/** Two batches side by side: one records and starts while the other sends, and a lone event never waits for another. */
const YOUNG_BATCHES = 2;
/** Hanging endpoints keep some dozens of fan-outs open; more are open only when nothing ends them. */
const OPEN_FAN_OUTS_MAX = 128;
/** So many may be started without one coming to its end before claims become rare. */
const STARTS_WITHOUT_END = 8;
const GATHER_WITHOUT_END_MIN_MS = 20;
const GATHER_WITHOUT_END_MAX_MS = 1_000;
/** An open fan-out is counted for so long; one that is stuck must not keep others for ever. */
const FOLLOW_MAX_MS = 600_000;
const RETRY_MS = 1_000;

export function fanOutBatches({ state, starts, follower, count, startFanOut }: BatchParts): FanOutBatches {
  /** Batches not started yet, or started less than 50 ms ago and not ended. */
  const young = new Set<Promise<void>>();
  const gather = gatherTime();

  /** Starts the workflow, and waits for the end of the first attempts. */
  async function runToEnd(fanOutId: string, claimed: readonly ClaimedDelivery[], onStarted: () => void): Promise<void> {
    // At least once: a batch that was claimed while the dispatcher closes would wait for a sweep.
    for (;;) {
      const startedAtMs = performance.now();
      const handle = await starts.run(() => startFanOut(fanOutId, claimed));
      if (handle === undefined) return;
      gather.startTook(performance.now() - startedAtMs);
      onStarted();
      state.openFanOuts++;
      state.startsWithoutEnd++;
      const end = await follower.follow(handle, FOLLOW_MAX_MS).finally(() => state.openFanOuts--);
      if (end === 'completed') state.startsWithoutEnd = 0;
      if (end !== 'lost' || state.closed) return;
      // It failed, or the engine has forgotten it: start it again, but not at once.
      await delay(RETRY_MS);
      if (state.closed) return;
    }
  }

  return {
    get gatherMs() {
      const doublings = state.startsWithoutEnd - STARTS_WITHOUT_END;
      if (doublings <= 0) return gather.ms;
      return Math.max(gather.ms, Math.min(GATHER_WITHOUT_END_MAX_MS, GATHER_WITHOUT_END_MIN_MS * 2 ** doublings));
    },
    async untilEngineHasRoom() {
      while (!state.closed && (starts.areStuck || state.openFanOuts >= OPEN_FAN_OUTS_MAX))
        await (starts.areStuck ? starts.changed() : delay(NEXT_BATCH_MS));
    },
    async run(fanOutId, claimed) {
      const started = Promise.withResolvers<void>();
      const ended = count(claimed, () => runToEnd(fanOutId, claimed, started.resolve));
      const batch = Promise.race([ended, started.promise.then(() => delay(NEXT_BATCH_MS))]).finally(() =>
        young.delete(batch),
      );
      young.add(batch);
      if (young.size >= YOUNG_BATCHES) await Promise.race(young);
    },
  };
}
