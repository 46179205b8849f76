/**
 * Starts a fan-out workflow for deliveries that no workflow carries yet.
 *
 *   nudge ──▶ claim all that waits, up to 500 ──▶ start eventFanOut ──▶ claim again
 *
 * Batches adapt by themselves: a lone event is claimed at once; under load the next batch is what has piled up while
 * the ones before ran. Two batches run side by side; a further one is taken when one of them is done or 50 ms old, and
 * the bound is on deliveries in flight, never on open fan-outs: a batch that waits for a hanging endpoint holds nobody.
 *
 * Nothing depends on the dispatcher's memory. Claimed rows carry the id of their workflow, starting it again is
 * harmless, and a sweep does so for every delivery that is overdue: after a crash between claim and start, after an
 * emptied or restored engine. A slow look without a nudge covers lost ones.
 */
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import {
  type ClaimedDelivery,
  claimDeliveries,
  claimFairly,
  FAIR_CLAIM_ORGANIZATIONS,
  type OverdueWorkflow,
  overdueWorkflows,
} from '../db/queries/claim-deliveries.ts';
import { holdDeliveries } from '../db/queries/hold-delivery.ts';
import { FAN_OUT_BATCH_MAX, OVERDUE_SWEEP_AFTER_MS, TROUBLED_GATHER_MS } from '../domain/delivery-limits.ts';
import {
  ENDPOINT_DELIVERY,
  type EndpointDeliveryInput,
  EVENT_FAN_OUT,
  endpointDeliveryId,
  type FanOutInput,
} from '../domain/delivery-workflows.ts';
import type { PlanName } from '../domain/plans.ts';
import { SEARCH_ATTRIBUTE_IDS_MAX } from '../domain/search-attributes.ts';
import { fairShares } from './fair-shares.ts';
import { gatherTime } from './gather-time.ts';
import { sweepNotices } from './member-notices.ts';
import { fanOutsTotal, inFlightDeliveries } from './metrics.ts';
import { newId } from './new-id.ts';
import { sweepRecoveries } from './recover-deliveries.ts';
import { retryDelaysMs } from './retry-ladder-setting.ts';
import type { Services } from './services.ts';
import { searchKeys, type TemporalClient } from './temporal-client.ts';

export interface Dispatcher {
  /** Deliveries claimed and not yet through their first attempt, as far as this process knows. */
  readonly inFlight: number;
  /** Stops claiming, waits for starts under way, and follows the workflows no longer. */
  close(): Promise<void>;
}

const IN_FLIGHT_MAX = 4_000;
/** Part of it that one organization may hold. */
const ORGANIZATION_SHARE = 0.5;
const NEXT_BATCH_MS = 50;
/** Two batches side by side: one records and starts while the other sends, and a lone event never waits for another. */
const YOUNG_BATCHES = 2;
const IDLE_LOOK_MS = 1_000;
const SWEEP_MS = 30_000;
/** Of one look; the next one goes on behind them, for most of what is overdue waits behind an endpoint that hangs. */
const SWEEP_WORKFLOWS_MAX = 500;
const RETRY_MS = 1_000;
/** A start that takes longer when closing is left to the sweep of another process, or of the next start. */
const START_GRACE_MS = 3_000;

export function startDispatcher(services: Services, temporal: TemporalClient): Dispatcher {
  const { db, log, settings } = services;
  const ladderMs = retryDelaysMs(settings);
  const shares = fairShares(IN_FLIGHT_MAX * ORGANIZATION_SHARE, services.now);
  let inFlight = 0;
  /** Batches started less than 50 ms ago and not through. */
  const young = new Set<Promise<void>>();
  const starting = new Set<Promise<unknown>>();
  const following = new AbortController();
  let backlog = false;
  let fairNext = true;
  let fairAfter = '';
  const gather = gatherTime();
  let closed = false;
  let wake: () => void = () => {};
  let nudged = true; // what waited before this process began

  function nudge(): void {
    nudged = true;
    wake();
  }

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        wake = () => {};
        resolve();
      }
      wake = done;
      if (closed) done();
    });

  async function claimLoop(): Promise<void> {
    let lookedAtAllMs = 0;
    let claimedAtMs = Number.NEGATIVE_INFINITY;
    while (!closed) {
      if (!nudged) await sleep(IDLE_LOOK_MS);
      if (closed) return;
      nudged = false;
      try {
        const room = Math.min(FAN_OUT_BATCH_MAX, IN_FLIGHT_MAX - inFlight);
        if (room <= 0) {
          await pause(NEXT_BATCH_MS);
          nudged = true;
          continue;
        }
        const nowMs = services.now();
        const everything = nowMs - lookedAtAllMs > SWEEP_MS;
        if (everything) lookedAtAllMs = nowMs;
        const fanOutId = newId('event', nowMs).replace('evt_', 'fan-out/');
        const gatherMs = claimedAtMs + gather.ms - performance.now();
        // A lone event is claimed at once; what follows it closely goes together.
        if (gatherMs > 0 && !backlog) await pause(gatherMs);
        const claimed = await claim(fanOutId, room, nowMs, everything);
        if (claimed.length === 0) continue;
        claimedAtMs = performance.now();
        if (claimed.length === room || !fairNext) nudged = true; // there may be more
        const slow = claimed.filter((delivery) => delivery.troubled === true);
        if (slow.length > 0) void carry(slow, () => gatherSlow(fanOutId, slow));
        const well = slow.length === 0 ? claimed : claimed.filter((delivery) => delivery.troubled !== true);
        if (well.length === 0) continue;
        fanOutsTotal.inc();
        const batch = Promise.race([carry(well, () => runBatch(fanOutId, well)), pause(NEXT_BATCH_MS)]).finally(() =>
          young.delete(batch),
        );
        young.add(batch);
        if (young.size >= YOUNG_BATCHES) await Promise.race(young);
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'deliveries could not be claimed; trying again');
        await sleep(RETRY_MS);
        nudged = true;
      }
    }
  }

  /**
   * The oldest first. When that leaves a backlog, every other claim takes a few of each organization instead, and while
   * an organization has had its share, all claims do.
   */
  async function claim(fanOutId: string, room: number, nowMs: number, everything: boolean): Promise<ClaimedDelivery[]> {
    const excluded = shares.excluded();
    if (excluded.length === 0 && !(backlog && fairNext)) {
      const claimed = await claimDeliveries(db, fanOutId, room, nowMs, everything);
      backlog = claimed.length === room;
      fairNext = true;
      return claimed;
    }
    fairNext = false;
    const each = Math.max(1, Math.floor(room / FAIR_CLAIM_ORGANIZATIONS));
    const claimed = await claimFairly(db, fanOutId, each, nowMs, fairAfter, excluded);
    const organizations = claimed.map(({ organizationId }) => organizationId).sort();
    const began = fairAfter === '';
    fairAfter = organizations.at(-1) ?? '';
    // The end of the round: begin anew at once, for there may be some before the place where it began.
    return claimed.length === 0 && !began ? claimFairly(db, fanOutId, each, nowMs, '', excluded) : claimed;
  }

  /** Keeps count of deliveries until they are handed on. */
  function carry(claimed: readonly ClaimedDelivery[], run: () => Promise<void>): Promise<void> {
    inFlight += claimed.length;
    inFlightDeliveries.set(inFlight);
    const counts = new Map<string, number>();
    const plans = new Map<string, PlanName>();
    for (const { organizationId, plan } of claimed) {
      counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1);
      plans.set(organizationId, plan);
    }
    for (const [id, plan] of plans) shares.taken(id, plan, counts.get(id) ?? 0);
    return run().finally(() => {
      inFlight -= claimed.length;
      inFlightDeliveries.set(inFlight);
      for (const [id, count] of counts) shares.done(id, count);
    });
  }

  /** Of a slow endpoint: its deliveries of some seconds, and the fan-out that the first of them was claimed for. */
  interface Gathering {
    readonly fanOutId: string;
    readonly claimed: ClaimedDelivery[];
    readonly started: Promise<void>;
  }
  const gatherings = new Map<string, Gathering>();
  /** Ends of the waits of those that gather. */
  const endsOfGathering = new Set<() => void>();
  /** Lanes that gather or are about to be started. */
  const lanes = new Set<Promise<void>>();

  const untilGathered = (): Promise<void> =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        endsOfGathering.delete(end);
        resolve();
      };
      const timer = setTimeout(end, TROUBLED_GATHER_MS);
      endsOfGathering.add(end);
      if (closed) end();
    });

  /**
   * An endpoint that hangs would make a workflow of nearly each of its events, after a way through a fan-out
   * that other endpoints' deliveries wait beside. Its deliveries gather instead, and begin in its own lane together.
   */
  async function gatherSlow(fanOutId: string, slow: readonly ClaimedDelivery[]): Promise<void> {
    const started = new Set<Promise<void>>();
    for (const delivery of slow) {
      let gathering = gatherings.get(delivery.endpointId);
      if (gathering === undefined || gathering.claimed.length >= FAN_OUT_BATCH_MAX) {
        const claimed: ClaimedDelivery[] = [];
        const gathered = gathering === undefined ? untilGathered() : Promise.resolve();
        const own = gathered
          .then(() => {
            if (gatherings.get(delivery.endpointId)?.claimed === claimed) gatherings.delete(delivery.endpointId);
            return startLane(delivery.endpointId, fanOutId, claimed);
          })
          .finally(() => lanes.delete(own));
        lanes.add(own);
        gathering = { fanOutId, claimed, started: own };
        gatherings.set(delivery.endpointId, gathering);
      }
      gathering.claimed.push(delivery);
      started.add(gathering.started);
    }
    await Promise.all(started);
  }

  /** Starts the workflow of a slow endpoint, again and again while the engine is away. */
  async function startLane(endpointId: string, fanOutId: string, claimed: readonly ClaimedDelivery[]): Promise<void> {
    const ids = claimed.map(({ id }) => id);
    const input: EndpointDeliveryInput = {
      endpointId,
      deliveries: ids.map((id) => ({ id, dueAtMs: services.now() })),
      ladderMs,
    };
    const workflowId = endpointDeliveryId(endpointId, fanOutId);
    for (;;) {
      try {
        await holdDeliveries(db, ids, workflowId);
        const start = temporal.client.workflow.start(ENDPOINT_DELIVERY, {
          workflowId,
          taskQueue: temporal.taskQueue,
          args: [input],
          workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
          typedSearchAttributes: fanOutSearchAttributes(claimed),
          staticSummary: `${fanOutSummary(claimed)}, which is slow: ${endpointId}`,
        });
        starting.add(start);
        await start.finally(() => starting.delete(start));
        return;
      } catch (error) {
        if (closed) return;
        log.warn(
          { error: messageOf(error), workflowId },
          'deliveries of a slow endpoint were not started; trying again',
        );
        await pause(RETRY_MS);
      }
    }
  }

  /** Starts the workflow, again and again while the engine is away, and waits for the first attempts to be through. */
  async function runBatch(fanOutId: string, claimed: readonly ClaimedDelivery[]): Promise<void> {
    const input: FanOutInput = { deliveryIds: claimed.map(({ id }) => id), ladderMs };
    for (;;) {
      try {
        const startedAtMs = performance.now();
        const start = temporal.client.workflow.start(EVENT_FAN_OUT, {
          workflowId: fanOutId,
          taskQueue: temporal.taskQueue,
          args: [input],
          workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
          requestEagerStart: temporal.eager,
          typedSearchAttributes: fanOutSearchAttributes(claimed),
          staticSummary: fanOutSummary(claimed),
        });
        starting.add(start);
        const handle = await start.finally(() => starting.delete(start));
        gather.startTook(performance.now() - startedAtMs);
        await temporal.client.withAbortSignal(following.signal, () => handle.result());
        return;
      } catch (error) {
        if (closed) return;
        log.warn({ error: messageOf(error), fanOutId }, 'a fan-out could not be started or followed; trying again');
        await pause(RETRY_MS);
      }
    }
  }

  /** The last workflow of the look before, unless that came to the end. */
  let sweptTo = '';
  async function sweep(overdueMs: number): Promise<void> {
    const before = new Date(services.now() - overdueMs);
    const overdue = await overdueWorkflows(db, before, sweptTo, SWEEP_WORKFLOWS_MAX);
    sweptTo = overdue.length < SWEEP_WORKFLOWS_MAX ? '' : (overdue.at(-1)?.workflowId ?? '');
    for (const workflow of overdue) if (!closed) await startAgain(workflow);
    if (overdue.length > 0) log.info({ workflows: overdue.length }, 'started workflows of overdue deliveries again');
  }

  /** Harmless when it still runs; when the engine forgot it or it ended without finishing its rows, they go on. */
  async function startAgain({ workflowId, deliveries }: OverdueWorkflow): Promise<void> {
    const [first] = deliveries;
    if (first === undefined) return;
    const fanOut: FanOutInput = { deliveryIds: deliveries.map(({ id }) => id), ladderMs };
    const endpoint: EndpointDeliveryInput = { endpointId: first.endpointId, deliveries, ladderMs };
    const waits = workflowId.startsWith('delivery/');
    await temporal.client.workflow.start(waits ? ENDPOINT_DELIVERY : EVENT_FAN_OUT, {
      workflowId,
      taskQueue: temporal.taskQueue,
      args: [waits ? endpoint : fanOut],
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    });
  }

  async function sweepLoop(): Promise<void> {
    // At the start nothing of this process is under way, so whatever is open and due has lost its workflow or soon
    // will be seen to have one.
    let overdueMs = 0;
    while (!closed) {
      try {
        await sweep(overdueMs);
        const recoveries = await sweepRecoveries(services, temporal);
        const notices = await sweepNotices(services, temporal);
        if (notices > 0) log.info({ notices }, 'started overdue notices again');
        if (recoveries > 0) log.info({ recoveries }, 'started overdue recoveries again');
        overdueMs = OVERDUE_SWEEP_AFTER_MS;
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'the sweep for overdue deliveries failed; trying again');
      }
      // Closed while sweeping: the wait below would begin after its end was signalled.
      if (closed) return;
      await new Promise<void>((resolve) => {
        sweepTimer = setTimeout(resolve, overdueMs === 0 ? RETRY_MS : SWEEP_MS);
        stopSweep = resolve;
      });
    }
  }
  let sweepTimer: NodeJS.Timeout | undefined;
  let stopSweep = () => {};

  services.deliveriesDue.onNudge(nudge);
  const loops = [claimLoop(), sweepLoop()];
  return {
    get inFlight() {
      return inFlight;
    },
    async close() {
      closed = true;
      wake();
      clearTimeout(sweepTimer);
      stopSweep();
      for (const end of endsOfGathering) end();
      await Promise.all(loops);
      await Promise.race([Promise.allSettled([...starting, ...lanes]), pause(START_GRACE_MS)]);
      following.abort();
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The one value all share, if they do. */
function shared<Value>(
  claimed: readonly ClaimedDelivery[],
  of: (delivery: ClaimedDelivery) => Value,
): Value | undefined {
  const [first] = claimed;
  if (first === undefined) return undefined;
  const value = of(first);
  return claimed.every((delivery) => of(delivery) === value) ? value : undefined;
}

function fanOutSearchAttributes(claimed: readonly ClaimedDelivery[]): TypedSearchAttributes {
  const eventIds = [...new Set(claimed.map(({ eventId }) => eventId))];
  const pairs = [
    { key: searchKeys.organizationId, value: shared(claimed, (delivery) => delivery.organizationId) },
    { key: searchKeys.endpointId, value: shared(claimed, (delivery) => delivery.endpointId) },
    { key: searchKeys.mailboxId, value: shared(claimed, (delivery) => delivery.mailboxId) ?? undefined },
    { key: searchKeys.eventType, value: shared(claimed, (delivery) => delivery.eventType) },
  ].flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value }]));
  return new TypedSearchAttributes([
    ...pairs,
    { key: searchKeys.deliveryIds, value: claimed.slice(0, SEARCH_ATTRIBUTE_IDS_MAX).map(({ id }) => id) },
    { key: searchKeys.eventIds, value: eventIds.slice(0, SEARCH_ATTRIBUTE_IDS_MAX) },
  ]);
}

function fanOutSummary(claimed: readonly ClaimedDelivery[]): string {
  const type = shared(claimed, (delivery) => delivery.eventType);
  const endpoints = new Set(claimed.map(({ endpointId }) => endpointId)).size;
  const events = new Set(claimed.map(({ eventId }) => eventId)).size;
  const count = (n: number, word: string) => `${n} ${n === 1 ? word : `${word}s`}`;
  return `${events === 1 && type !== undefined ? type : count(events, type ?? 'event')} to ${count(endpoints, 'endpoint')}`;
}
