/**
 * Starts a fan-out workflow for deliveries that no workflow carries yet. Their first attempts are usually made by a fast
 * lane at the same time (`activities/fast-lane/fast-lane.ts`); those that no lane takes are made by the workflow.
 *
 *   taken by a lane ──▶ gather for a second ──▶ claim up to 500 ──▶ start eventFanOut, one for the batch
 *                                               claim-loop.ts, claims.ts         fan-out-batches.ts
 *   no lane alive, or taken by none for 15 s ──▶ claim up to 500 ──┬─▶ start eventFanOut ──▶ claim again
 *                                                                 └─▶ of slow endpoints: gather, start endpointDelivery
 *                                                                     slow-lanes.ts
 *   every 30 s ──▶ start again what is overdue        sweep-deliveries.ts
 *
 * Nothing depends on the dispatcher's memory (`dispatcher-state.ts`). Claimed rows carry the id of their workflow,
 * starting it again has no effect, and the sweep does so for every delivery that is overdue.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { engineStarts } from '#core/platform/engine/engine-starts.ts';
import { workflowFollower } from '#core/platform/engine/follow-workflow.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import { FURTHER_CONNECTIONS } from '#core/platform/process/database-connections.ts';
import type { Services } from '#core/platform/process/services.ts';
import { retryDelaysMs } from '#core/platform/settings/settings.ts';
import { openSteadyPlans } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { assignClaimed } from '#db/queries/deliveries/assign-workflow.ts';
import {
  type ClaimBounds,
  claimDeliveries,
  claimedBy,
  claimFairly,
  claimTaken,
} from '#db/queries/deliveries/claim-deliveries.ts';
import { leaseAllowances } from '#db/queries/deliveries/delivery-allowances.ts';
import { UNTAKEN_AFTER_MS } from '#domain/webhooks/delivery-limits.ts';
import { carryGatherMs } from '#domain/webhooks/retry-ladder.ts';
import { startClaimLoop } from './claim-loop.ts';
import { deliveryClaims } from './claims.ts';
import { newDispatcherState } from './dispatcher-state.ts';
import { fairShares } from './fair-shares.ts';
import { fanOutBatches } from './fan-out-batches.ts';
import { countInFlight, IN_FLIGHT_MAX, ORGANIZATION_SHARE } from './in-flight.ts';
import { laneWatch, NO_LANES } from './lane-watch.ts';
import { reportedStatements } from './reported-statements.ts';
import { slowLanes } from './slow-lanes.ts';
import { startFanOut, startOrJoinEndpointDelivery } from './start-deliveries.ts';
import { startDeliverySweep } from './sweep-deliveries.ts';

/** How long `close` waits for the end of a claim that is running, in milliseconds. */
const CLAIM_GRACE_MS = 2_000;

export interface Dispatcher {
  /** Deliveries claimed and not yet through their first attempt, as far as this process knows. */
  readonly inFlight: number;
  /** Stops claiming, waits for starts in flight, and follows the workflows no longer. */
  close(): Promise<void>;
}

export function startDispatcher(services: Services, temporal: TemporalClient): Dispatcher {
  const { db, log } = services;
  const now = () => services.now();
  const ladderMs = retryDelaysMs(services.settings);
  const state = newDispatcherState();
  const reported = reportedStatements(log);
  const starts = engineStarts(log);
  const follower = workflowFollower(temporal, log);
  const shares = fairShares(
    IN_FLIGHT_MAX * ORGANIZATION_SHARE,
    (wanted) => reported(() => leaseAllowances(db, wanted)),
    () => performance.now(),
  );
  const count = countInFlight(state, shares, log);
  // A lost connection is reported by the statement that uses it.
  const steady = openSteadyPlans(services.settings.DATABASE_URL ?? '', FURTHER_CONNECTIONS.dispatcher, () => {});
  const stampedWith = (fanOutId: string) => reported(() => claimedBy(db, fanOutId));
  const newFanOutId = (nowMs: number) => newId('event', nowMs).replace('evt_', 'fan-out/');
  const untaken = deliveryClaims(
    {
      oldest: (...args) => reported(() => claimDeliveries(steady, ...args)),
      fairly: (...args) => reported(() => claimFairly(steady, ...args)),
      stampedWith,
      newId: newFanOutId,
    },
    () => shares.excluded(),
  );
  const claimAllTaken = (fanOutId: string, bounds: ClaimBounds) => reported(() => claimTaken(steady, fanOutId, bounds));
  const taken = deliveryClaims(
    { oldest: claimAllTaken, fairly: claimAllTaken, stampedWith, newId: newFanOutId },
    () => [], // nothing is sent because of it
  );
  const batches = fanOutBatches({
    state,
    starts,
    follower,
    count,
    startFanOut: (fanOutId, claimed) => startFanOut(temporal, fanOutId, claimed, ladderMs),
  });
  const lanes = slowLanes({
    state,
    starts,
    count,
    now,
    stamp: async (assigned) => {
      try {
        return await reported(() => assignClaimed(db, assigned));
      } catch (error) {
        if (!isInfrastructureError(error)) throw error;
        return undefined;
      }
    },
    startLane: (lane) => startOrJoinEndpointDelivery(temporal, { ...lane, ladderMs }),
  });
  const withLanes = services.settings.WEBHOOK_FAST_LANE === 'on';
  const watch = withLanes ? laneWatch(db, () => loop.wake()) : NO_LANES;
  const loop = startClaimLoop({
    state,
    claims: untaken,
    batches,
    lanes,
    now,
    pace: {
      afterWakeMs: 0,
      get gatherMs() {
        return batches.gatherMs;
      },
      get madeBeforeMs() {
        return watch.alive ? now() - UNTAKEN_AFTER_MS : undefined;
      },
    },
  });
  const carryMs = carryGatherMs(ladderMs);
  const carryPace = { afterWakeMs: carryMs, gatherMs: carryMs };
  const carryLoop = startClaimLoop({ state, claims: taken, batches, lanes, now, pace: carryPace });
  services.deliveriesDue.onWake(
    () => {
      if (!watch.alive) loop.wake();
      carryLoop.wake();
    },
    { makesFirstAttempts: !withLanes },
  );
  const sweep = startDeliverySweep(services, temporal, starts);
  return {
    get inFlight() {
      return state.inFlight;
    },
    async close() {
      state.closed = true;
      watch.close();
      const ended = Promise.all([loop.close(), carryLoop.close()]);
      const swept = sweep.close();
      // What a running claim returns is started too: otherwise it would wait for the next sweep.
      await Promise.race([ended, delay(starts.areStuck ? 0 : CLAIM_GRACE_MS)]);
      await lanes.close();
      await starts.close();
      await Promise.all([ended, swept]);
      follower.close();
      await steady.close();
    },
  };
}
