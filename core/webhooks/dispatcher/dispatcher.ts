/**
 * Starts a fan-out workflow for deliveries that no workflow carries yet. Their first attempts are usually made by a fast
 * lane at the same time (`activities/fast-lane.ts`); those that no lane takes are made by the workflow.
 *
 *   taken by a lane ──▶ gather for a second ──▶ claim up to 500 ──▶ start eventFanOut, one for the batch
 *   no lane alive, or taken by none for 15 s ──▶ claim up to 500 ──┬─▶ start eventFanOut ──▶ claim again
 *                                                                 └─▶ of slow endpoints: gather, start endpointDelivery
 *   every 30 s ──▶ start again what is overdue
 *
 * What is claimed: `claims.ts`. How it becomes workflows: `claim-loop.ts`, `start-deliveries.ts`. The last line:
 * `sweep-deliveries.ts`.
 *
 * Nothing depends on the dispatcher's memory. Claimed rows carry the id of their workflow, starting it again has no
 * effect, and the sweep does so for every delivery that is overdue.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { engineStarts } from '#core/platform/engine/engine-starts.ts';
import { workflowFollower } from '#core/platform/engine/follow-workflow.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { FURTHER_CONNECTIONS } from '#core/platform/process/database-connections.ts';
import type { Services } from '#core/platform/process/services.ts';
import { retryDelaysMs } from '#core/platform/settings/settings.ts';
import { openSteadyPlans, type Sql } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import {
  type ClaimBounds,
  claimDeliveries,
  claimedBy,
  claimFairly,
  claimTaken,
} from '#db/queries/deliveries/claim-deliveries.ts';
import { leaseAllowances } from '#db/queries/deliveries/delivery-allowances.ts';
import { assignClaimed } from '#db/queries/deliveries/delivery-workflows.ts';
import { lanesAreAlive } from '#db/queries/deliveries/lane-life.ts';
import { UNTAKEN_AFTER_MS } from '#domain/webhooks/delivery-limits.ts';
import { carryGatherMs } from '#domain/webhooks/retry-ladder.ts';
import {
  countInFlight,
  fanOutBatches,
  IN_FLIGHT_MAX,
  newDispatcherState,
  slowEndpointDeliveries,
  startClaimLoop,
} from './claim-loop.ts';
import { deliveryClaims, fairShares, reportedSql } from './claims.ts';
import { newFanOutId, startFanOut, startOrJoinEndpointDelivery } from './start-deliveries.ts';
import { startDeliverySweep } from './sweep-deliveries.ts';

/** Part of the deliveries in flight that one organization may have. */
const ORGANIZATION_SHARE = 0.5;
/** How long `close` waits for the end of a claim that is running, in milliseconds. */
const CLAIM_GRACE_MS = 2_000;
const LANES_LOOK_MS = 1_000;

export interface Dispatcher {
  /** Deliveries claimed and not yet through their first attempt, as far as this process knows. */
  readonly inFlight: number;
  /** Stops claiming, waits for starts in flight, and follows the workflows no longer. */
  close(): Promise<void>;
}

export function startDispatcher(services: Services, temporal: TemporalClient): Dispatcher {
  const { log, settings } = services;
  const now = () => services.now();
  const ladderMs = retryDelaysMs(settings);
  const state = newDispatcherState();
  const starts = engineStarts(log);
  const follower = workflowFollower(temporal, log);
  const connections = openSteadyPlans(settings.DATABASE_URL ?? '', FURTHER_CONNECTIONS.dispatcher);
  const db = reportedSql(services.db, log);
  const steady = reportedSql(connections, log);
  const shares = fairShares(IN_FLIGHT_MAX * ORGANIZATION_SHARE, (wanted) => leaseAllowances(db, wanted));
  const count = countInFlight(state, shares, log);
  const ofEveryClaim = {
    stampedWith: (fanOutId: string) => claimedBy(db, fanOutId),
    newId: newFanOutId,
  };
  const untaken = deliveryClaims(
    {
      ...ofEveryClaim,
      oldest: (...args) => claimDeliveries(steady, ...args),
      fairly: (...args) => claimFairly(steady, ...args),
    },
    () => shares.excluded(),
  );
  const claimAllTaken = (fanOutId: string, bounds: ClaimBounds) => claimTaken(steady, fanOutId, bounds);
  const taken = deliveryClaims(
    { ...ofEveryClaim, oldest: claimAllTaken, fairly: claimAllTaken },
    () => [], // nothing is sent because of it
  );
  const batches = fanOutBatches({
    state,
    starts,
    follower,
    count,
    startFanOut: (fanOutId, claimed) => startFanOut(temporal, fanOutId, claimed, ladderMs),
  });
  const slowEndpoints = slowEndpointDeliveries({
    state,
    starts,
    count,
    now,
    stamp: async (assigned) => {
      try {
        return await assignClaimed(db, assigned);
      } catch (error) {
        if (!isInfrastructureError(error)) throw error;
        return undefined;
      }
    },
    startEndpoint: (start) => startOrJoinEndpointDelivery(temporal, { ...start, ladderMs }),
  });
  const withLanes = settings.WEBHOOK_FAST_LANE === 'on';
  const lanes = withLanes ? laneWatch(services.db, () => loop.wake()) : NO_LANES;
  const parts = { state, batches, slowEndpoints, now };
  const loop = startClaimLoop({
    ...parts,
    claims: untaken,
    pace: {
      afterWakeMs: 0,
      get gatherMs() {
        return batches.gatherMs;
      },
      get madeBeforeMs() {
        return lanes.alive ? now() - UNTAKEN_AFTER_MS : undefined;
      },
    },
  });
  const carryMs = carryGatherMs(ladderMs);
  const carryLoop = startClaimLoop({ ...parts, claims: taken, pace: { afterWakeMs: carryMs, gatherMs: carryMs } });
  services.deliveriesDue.onWake(
    () => {
      if (!lanes.alive) loop.wake();
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
      lanes.close();
      const ended = Promise.all([loop.close(), carryLoop.close()]);
      const swept = sweep.close();
      // What a running claim returns is started too: otherwise it would wait for the next sweep.
      await Promise.race([ended, delay(starts.areStuck ? 0 : CLAIM_GRACE_MS)]);
      await slowEndpoints.close();
      await starts.close();
      await Promise.all([ended, swept]);
      follower.close();
      await connections.close();
    },
  };
}

/** Whether a fast lane of any worker makes first attempts, so that workflows need only carry the deliveries. */
interface LaneWatch {
  /** As of the last second. */
  readonly alive: boolean;
  close(): void;
}

/** Of a process whose setting says that workflows make all attempts. */
const NO_LANES: LaneWatch = { alive: false, close: () => {} };

/** @param onDeath called when no lane shows signs of life any more */
function laneWatch(sql: Sql, onDeath: () => void): LaneWatch {
  let alive = false;
  let asking = false;

  async function look(): Promise<void> {
    if (asking) return;
    asking = true;
    try {
      const before = alive;
      alive = await lanesAreAlive(sql);
      if (before && !alive) onDeath();
    } catch {
      // The claims meet the same outage and report it.
    } finally {
      asking = false;
    }
  }

  const timer = setInterval(() => void look(), LANES_LOOK_MS);
  void look();
  return {
    get alive() {
      return alive;
    },
    close: () => clearInterval(timer),
  };
}
