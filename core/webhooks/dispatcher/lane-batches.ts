/**
 * The fan-outs of deliveries that a fast lane takes. The rows name their fan-out from the start, so nothing has to stamp
 * them later.
 *
 *   a delivery is about to be taken ──▶ the id of the fan-out of this second
 *   its rows are committed ───────────▶ its ids join the batch ──second over──▶ start eventFanOut with all of them
 *                                           └─started already─▶ signal carryDeliveries, which starts it if it has ended
 *
 * A batch waits some seconds for transactions that have its id and have not ended. What is lost with this process is in
 * the rows: another lane takes over the attempts and starts the fan-out that they name, otherwise a sweep starts it.
 *
 * While the engine accepts no starts, or ends no fan-outs, no batch is opened: a dispatcher carries the deliveries later,
 * in few workflows.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { engineStarts } from '#core/platform/engine/engine-starts.ts';
import { workflowFollower } from '#core/platform/engine/follow-workflow.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { fanOutsTotal } from '#core/platform/log/metrics.ts';
import type { LaneDelivery } from '#db/queries/deliveries/claim-deliveries.ts';
import { FAN_OUT_BATCH_MAX } from '#domain/webhooks/delivery-limits.ts';
import { carryGatherMs } from '#domain/webhooks/retry-ladder.ts';
import { fanOutBatches, newDispatcherState } from './claim-loop.ts';
import { newFanOutId, startOrJoinFanOut } from './start-deliveries.ts';

/** A place in a batch. */
export interface BatchPlace {
  readonly fanOutId: string;
  /** Must be called exactly once. @param taken deliveries whose rows are committed, or may be */
  end(taken: readonly LaneDelivery[]): void;
}

export interface LaneBatches {
  /** @returns undefined: no fan-out can be started now */
  open(): BatchPlace | undefined;
  /** The fan-out for deliveries that other processes lease to the lane now; null: none can be started now. */
  offered(): string | null;
  /** Makes sure that the fan-outs that the rows name carry them: those of a second are started, or signalled, together. */
  join(deliveries: readonly LaneDelivery[]): void;
  /** Starts what is gathered. What takes longer is left to a sweep. */
  close(): Promise<void>;
}

interface Batch {
  readonly fanOutId: string;
  readonly deliveries: LaneDelivery[];
  /** Places that have not ended. */
  places: number;
  isOver: boolean;
  isStarted: boolean;
}

/** Other processes use a fan-out for so long. */
const OFFERED_MS = 5_000;
/** A batch that is over waits this long for transactions that have not ended. */
const PLACES_MAX_MS = 5_000;
/** While so many are being started, or so many wait for their time and transactions, none is opened: the engine is slow. */
const STARTING_MAX = 2;
const WAITING_MAX = 8;
const OPEN_FAN_OUTS_MAX = 128;
const CLOSE_GRACE_MS = 3_000;

export function laneBatches(
  temporal: TemporalClient,
  { ladderMs, log, now }: { readonly ladderMs: readonly number[]; readonly log: Logger; readonly now: () => number },
): LaneBatches {
  const state = newDispatcherState();
  /** Starts that the engine has not answered. */
  let unaccepted = 0;
  const starts = engineStarts(log);
  const follower = workflowFollower(temporal, log);
  const batches = fanOutBatches({
    state,
    starts,
    follower,
    // The lane counts its attempts.
    count: (_, run) => run(),
    async startFanOut(fanOutId, deliveries) {
      unaccepted++;
      try {
        return await startOrJoinFanOut(temporal, fanOutId, deliveries, ladderMs);
      } finally {
        unaccepted--;
      }
    },
  });
  const gatherMs = carryGatherMs(ladderMs);
  const waiting = new Set<Batch>();
  const starting = new Set<Promise<void>>();
  let current: Batch | undefined;
  /** Deliveries that join a fan-out when a second is over, by its id. */
  const joining = new Map<string, LaneDelivery[]>();
  let offered: { readonly fanOutId: string; readonly untilMs: number } | undefined;

  const isSlow = () =>
    state.closed ||
    starts.areStuck ||
    unaccepted >= STARTING_MAX ||
    waiting.size >= WAITING_MAX ||
    state.openFanOuts >= OPEN_FAN_OUTS_MAX;

  /** @returns when the engine has accepted it */
  function start(fanOutId: string, deliveries: readonly LaneDelivery[]): void {
    if (deliveries.length === 0) return;
    fanOutsTotal.inc();
    const claimed = deliveries.map((delivery) => ({ ...delivery, troubled: false, inLane: true }));
    const started = batches
      .run(fanOutId, claimed)
      .catch((error: unknown) => log.error({ error: String(error), fanOutId }, 'a fan-out was not started'))
      .finally(() => starting.delete(started));
    starting.add(started);
  }

  function startBatch(batch: Batch): void {
    if (batch.isStarted) return;
    batch.isStarted = true;
    waiting.delete(batch);
    start(batch.fanOutId, batch.deliveries.splice(0));
  }

  function over(batch: Batch): void {
    if (batch.isOver) return;
    batch.isOver = true;
    if (current === batch) current = undefined;
    if (batch.places === 0) startBatch(batch);
    else void delay(PLACES_MAX_MS, undefined, { ref: false }).then(() => startBatch(batch));
  }

  function openBatch(): Batch {
    const batch = { fanOutId: newFanOutId(now()), deliveries: [], places: 0, isOver: false, isStarted: false };
    waiting.add(batch);
    current = batch;
    void delay(gatherMs, undefined, { ref: false }).then(() => over(batch));
    return batch;
  }

  function joinNow(fanOutId: string): void {
    const deliveries = joining.get(fanOutId) ?? [];
    joining.delete(fanOutId);
    start(fanOutId, deliveries);
  }

  function joinSoon(fanOutId: string, deliveries: readonly LaneDelivery[]): void {
    let gathered = joining.get(fanOutId);
    if (gathered === undefined) {
      gathered = [];
      joining.set(fanOutId, gathered);
      void delay(gatherMs, undefined, { ref: false }).then(() => joinNow(fanOutId));
    }
    gathered.push(...deliveries);
    if (gathered.length >= FAN_OUT_BATCH_MAX || state.closed) joinNow(fanOutId);
  }

  return {
    open() {
      if (isSlow()) return undefined;
      const batch = current ?? openBatch();
      batch.places++;
      return {
        fanOutId: batch.fanOutId,
        end(taken) {
          batch.places--;
          if (batch.isStarted) return start(batch.fanOutId, taken);
          batch.deliveries.push(...taken);
          if (batch.deliveries.length >= FAN_OUT_BATCH_MAX) over(batch);
          if (batch.isOver && batch.places === 0) startBatch(batch);
        },
      };
    },
    join(deliveries) {
      for (const [fanOutId, ofFanOut] of Map.groupBy(deliveries, (delivery) => delivery.fanOutId))
        if (fanOutId !== null) joinSoon(fanOutId, ofFanOut);
    },
    offered() {
      if (isSlow()) return null;
      if (offered === undefined || performance.now() >= offered.untilMs)
        offered = { fanOutId: newFanOutId(now()), untilMs: performance.now() + OFFERED_MS };
      return offered.fanOutId;
    },
    async close() {
      state.closed = true;
      for (const batch of waiting) startBatch(batch);
      for (const fanOutId of joining.keys()) joinNow(fanOutId);
      const grace = delay(starts.areStuck ? 0 : CLOSE_GRACE_MS, undefined, { ref: false });
      await Promise.race([Promise.allSettled(starting), grace]);
      await starts.close();
      follower.close();
    },
  };
}
