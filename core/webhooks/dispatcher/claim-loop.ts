/**
 * Claims what is due and starts the workflows that carry it.
 *
 *   wake-up ──▶ claim up to 500 ──▶ batch: one `eventFanOut` ──▶ claim again when it has ended, or is 50 ms old
 *                    └─▶ of slow endpoints: gather for some seconds ──▶ one `endpointDelivery` for each endpoint
 *
 * **Loop.** It looks without a wake-up every second, which covers lost ones. How long it waits from a wake-up to the
 * claim, and between claims, is its pace.
 *
 * **Batches** adapt to the load: a lone event is claimed at once; under load the next batch is what has accumulated while
 * the ones before ran. A workflow costs the engine far more than a delivery in it. So the longer the engine takes to
 * accept one, the more is gathered for the next. Two batches run side by side; a further one is taken when one of them
 * has ended, or was started and is 50 ms old. So a batch that waits for a hanging endpoint delays no other.
 *
 * A backlog that waits for the engine needs few workflows. While the engine accepts none, nothing is claimed. While it
 * accepts them but completes none, claims are rare and stop at 128 open fan-outs.
 *
 * **Slow endpoints** bypass the fan-outs. One that hangs would otherwise make a workflow of nearly each of its events,
 * after a fan-out in which the deliveries of other endpoints wait beside it. Each gathers for a time of its own: when
 * many hang, all their workflows would otherwise start at the same moment and delay the deliveries of others. The rows
 * are stamped with the id of the workflow before it runs, so a sweep starts it and not the fan-out. Then it gets the rest
 * by a signal.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { wakeablePause } from '#core/platform/batching/circuit.ts';
import type { EngineStarts } from '#core/platform/engine/engine-starts.ts';
import type { WorkflowFollower } from '#core/platform/engine/follow-workflow.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { fanOutsTotal, inFlightDeliveries } from '#core/platform/log/metrics.ts';
import type { ClaimedDelivery } from '#db/queries/deliveries/claim-deliveries.ts';
import type { AssignedDelivery } from '#db/queries/deliveries/delivery-workflows.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import { FAN_OUT_BATCH_MAX, TROUBLED_GATHER_MS, TROUBLED_GATHER_SPREAD_MS } from '#domain/webhooks/delivery-limits.ts';
import { fanOutSummary } from '#domain/webhooks/delivery-status.ts';
import { slowEndpointDeliveryId } from '#domain/webhooks/delivery-workflows.ts';
import type { Claims, FairShares } from './claims.ts';
import type { EndpointDeliveryStart } from './start-deliveries.ts';

/**
 * What the parts of one dispatcher share. The rows are authoritative: nothing here must survive the process. All other
 * state is private to each part.
 */
interface DispatcherState {
  /** Deliveries claimed and not yet through their first attempt. */
  inFlight: number;
  /** Fan-outs started and not ended. */
  openFanOuts: number;
  /** Fan-outs started since one ended. */
  startsWithoutEnd: number;
  /** It stops: nothing is claimed any more, and waits end. */
  closed: boolean;
}

export const newDispatcherState = (): DispatcherState => ({
  inFlight: 0,
  openFanOuts: 0,
  startsWithoutEnd: 0,
  closed: false,
});

export const IN_FLIGHT_MAX = 4_000;
const IDLE_LOOK_MS = 1_000;
const RETRY_MS = 1_000;
const NEXT_BATCH_MS = 50;

interface ClaimLoop {
  /** Deliveries may wait. */
  wake(): void;
  /** Resolves when the loop has ended. Set `closed` of the state before. */
  close(): Promise<void>;
}

interface ClaimLoopParts {
  readonly state: DispatcherState;
  readonly claims: Claims<ClaimedDelivery>;
  readonly pace: {
    /** From a wake-up to the claim, in milliseconds. */
    readonly afterWakeMs: number;
    /** Least time between two claims that found something, in milliseconds. */
    readonly gatherMs: number;
    /** Only deliveries made before this time, in milliseconds since 1970, are claimed; default: all. */
    readonly madeBeforeMs?: number | undefined;
  };
  readonly batches: Pick<FanOutBatches, 'run' | 'untilEngineHasRoom'>;
  readonly slowEndpoints: Pick<SlowEndpoints, 'run'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function startClaimLoop({ state, claims, pace, batches, slowEndpoints, now }: ClaimLoopParts): ClaimLoop {
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
    if (slow.length > 0) void slowEndpoints.run(fanOutId, slow);
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

/**
 * Counts deliveries while `run` handles them, except those whose first attempts a fast lane makes and counts. Never
 * rejects: what failed is started by the sweep.
 */
type CountInFlight = (claimed: readonly ClaimedDelivery[], run: () => Promise<void>) => Promise<void>;

export function countInFlight(state: DispatcherState, shares: FairShares, log: Logger): CountInFlight {
  const add = (count: number) => {
    state.inFlight += count;
    inFlightDeliveries.set(state.inFlight);
  };
  return async (all, run) => {
    const claimed = all.filter(({ inLane }) => !inLane);
    const ofOrganizations = new Map<string, { plan: PlanName | null; count: number }>();
    for (const { organizationId, plan } of claimed)
      ofOrganizations.set(organizationId, { plan, count: (ofOrganizations.get(organizationId)?.count ?? 0) + 1 });
    add(claimed.length);
    for (const [id, { plan, count }] of ofOrganizations) shares.taken(id, plan, count);
    try {
      await run();
    } catch (error) {
      log.error({ error: reasonOf(error) }, 'claimed deliveries were not started; the sweep will start them');
    }
    add(-claimed.length);
    for (const [id, { count }] of ofOrganizations) shares.done(id, count);
  };
}

interface FanOutBatches {
  /** Least time between two claims that found something, in milliseconds. */
  readonly gatherMs: number;
  /** Resolves when the engine accepts starts and has ended enough of them. */
  untilEngineHasRoom(): Promise<void>;
  /** Runs a batch. Resolves when the next may be claimed, which is usually before its end. */
  run(fanOutId: string, claimed: readonly ClaimedDelivery[]): Promise<void>;
}

interface BatchParts {
  readonly state: DispatcherState;
  readonly starts: Pick<EngineStarts, 'areStuck' | 'changed' | 'run'>;
  readonly follower: Pick<WorkflowFollower, 'follow'>;
  readonly count: CountInFlight;
  /** Starts the workflow; starting one that runs has no effect. */
  startFanOut(fanOutId: string, claimed: readonly ClaimedDelivery[]): Promise<WorkflowHandle>;
}

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

const GATHER_MIN_MS = 20;
const GATHER_MAX_MS = 80;
/** Gathered for as long as this many starts take. */
const GATHER_STARTS = 4;
/** Weight of the newest start in the running mean. */
const NEWEST_WEIGHT = 0.2;

/** How long events in quick succession are gathered into one fan-out: the longer, the busier the engine is. */
export function gatherTime() {
  let meanStartMs = 0;
  return {
    /** Least time between two claims that found something, in milliseconds. */
    get ms(): number {
      return Math.min(GATHER_MAX_MS, Math.max(GATHER_MIN_MS, GATHER_STARTS * meanStartMs));
    },
    /** Call it with the time the engine took to accept a workflow, in milliseconds. */
    startTook(ms: number): void {
      // One that took seconds says no more than a very slow one, and is forgotten as soon.
      meanStartMs += (Math.min(ms, GATHER_MAX_MS) - meanStartMs) * NEWEST_WEIGHT;
    },
  };
}

interface SlowEndpoints {
  /** Gathers deliveries of slow endpoints. Resolves when their workflows are started or left to the sweep. */
  run(fanOutId: string, slow: readonly ClaimedDelivery[]): Promise<void>;
  /** Starts what has been gathered. What takes longer is left to the sweep of another process, or of the next start. */
  close(): Promise<void>;
}

interface SlowEndpointParts {
  readonly state: DispatcherState;
  readonly starts: Pick<EngineStarts, 'areStuck' | 'run'>;
  readonly count: CountInFlight;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Stamps rows that no other workflow has taken over since the claim with the ids of their workflows.
   *
   * @returns the ids of these rows; undefined while the database is away
   */
  stamp(assigned: readonly AssignedDelivery[]): Promise<ReadonlySet<string> | undefined>;
  /** Starts the workflow; one that runs carries the deliveries beside its own. */
  startEndpoint(start: Omit<EndpointDeliveryStart, 'ladderMs'>): Promise<unknown>;
}

/** The deliveries of a slow endpoint within some seconds. */
interface Gathering {
  readonly endpointId: string;
  readonly workflowId: string;
  /** Deliveries whose rows are stamped. */
  readonly stamped: ClaimedDelivery[];
  /** Deliveries that were put into it, stamped or not. */
  size: number;
  /** The time of gathering is over. */
  isOver: boolean;
  readonly started: Promise<void>;
}

const CLOSE_GRACE_MS = 3_000;

export function slowEndpointDeliveries(parts: SlowEndpointParts): SlowEndpoints {
  const { state, starts, count, now, stamp, startEndpoint } = parts;
  /** By endpoint. */
  const gatherings = new Map<string, Gathering>();
  const endsOfGathering = new Set<() => void>();
  /** Claims whose workflows are not started yet. */
  const runs = new Set<Promise<void>>();

  const untilGathered = (): Promise<void> =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        endsOfGathering.delete(end);
        resolve();
      };
      const timer = setTimeout(end, TROUBLED_GATHER_MS + Math.random() * TROUBLED_GATHER_SPREAD_MS);
      endsOfGathering.add(end);
      if (state.closed) end();
    });

  async function start({ endpointId, workflowId }: Gathering, deliveries: readonly ClaimedDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const summary = `${fanOutSummary(deliveries)}, which is slow: ${endpointId}`;
    const due = deliveries.map((delivery) => ({ ...delivery, dueAtMs: now() }));
    await starts.run(() => startEndpoint({ workflowId, endpointId, deliveries: due, summary }));
  }

  /** @param gathered when the workflow starts */
  function openGathering(endpointId: string, fanOutId: string, gathered: Promise<void>): Gathering {
    const started = gathered.then(() => {
      gathering.isOver = true;
      if (gatherings.get(endpointId) === gathering) gatherings.delete(endpointId);
      return start(gathering, gathering.stamped);
    });
    const workflowId = slowEndpointDeliveryId(endpointId, fanOutId);
    const gathering: Gathering = { endpointId, workflowId, stamped: [], size: 0, isOver: false, started };
    gatherings.set(endpointId, gathering);
    return gathering;
  }

  function gatheringOf(endpointId: string, fanOutId: string): Gathering {
    const open = gatherings.get(endpointId);
    if (open === undefined) return openGathering(endpointId, fanOutId, untilGathered());
    // It is full: the next one starts as soon as the deliveries of this claim have been added.
    return open.size < FAN_OUT_BATCH_MAX ? open : openGathering(endpointId, fanOutId, Promise.resolve());
  }

  /** @returns the ids of the rows that name their workflow now */
  async function stampAll(assigned: readonly AssignedDelivery[]): Promise<ReadonlySet<string>> {
    for (;;) {
      const stamped = await stamp(assigned);
      if (stamped !== undefined) return stamped;
      if (state.closed) return new Set();
      await delay(RETRY_MS);
    }
  }

  async function gather(fanOutId: string, slow: readonly ClaimedDelivery[]): Promise<void> {
    const deliveries = new Map<Gathering, ClaimedDelivery[]>();
    for (const delivery of slow) {
      const gathering = gatheringOf(delivery.endpointId, fanOutId);
      gathering.size++;
      const added = deliveries.get(gathering);
      if (added === undefined) deliveries.set(gathering, [delivery]);
      else added.push(delivery);
    }
    const assigned = [...deliveries].flatMap(([{ workflowId }, added]) => added.map(({ id }) => ({ id, workflowId })));
    const stamped = await stampAll(assigned);
    const started = [...deliveries].map(([gathering, added]) => {
      const own = added.filter(({ id }) => stamped.has(id));
      if (gathering.isOver) return start(gathering, own);
      gathering.stamped.push(...own);
      return gathering.started;
    });
    await Promise.all(started);
  }

  return {
    run(fanOutId, slow) {
      const run = count(slow, () => gather(fanOutId, slow)).finally(() => runs.delete(run));
      runs.add(run);
      return run;
    },
    async close() {
      for (const end of endsOfGathering) end();
      await Promise.race([Promise.allSettled(runs), delay(starts.areStuck ? 0 : CLOSE_GRACE_MS)]);
    },
  };
}
