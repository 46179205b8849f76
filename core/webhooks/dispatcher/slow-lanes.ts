/**
 * Deliveries to endpoints that are known to be slow take a lane of their own, past the fan-outs.
 *
 *   claimed ──▶ stamp the rows with the lane's id ──▶ gather for some seconds, per endpoint ──▶ start endpointDelivery
 *
 * An endpoint that hangs would otherwise make a workflow of nearly each of its events, after a fan-out in which the
 * deliveries of other endpoints wait beside it. Each endpoint gathers for a time of its own: when many hang, all their
 * workflows would otherwise start at the same moment and delay the deliveries of others.
 *
 * The rows name the lane before it runs, so a sweep starts the lane and not the fan-out. Then the lane gets the rest by
 * a signal.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { EngineStarts } from '#core/platform/engine/engine-starts.ts';
import type { AssignedDelivery } from '#db/queries/deliveries/assign-workflow.ts';
import type { ClaimedDelivery } from '#db/queries/deliveries/claim-deliveries.ts';
import { FAN_OUT_BATCH_MAX, TROUBLED_GATHER_MS, TROUBLED_GATHER_SPREAD_MS } from '#domain/webhooks/delivery-limits.ts';
import { fanOutSummary } from '#domain/webhooks/delivery-summary.ts';
import { slowEndpointDeliveryId } from '#domain/webhooks/delivery-workflows.ts';
import { type DispatcherState } from './dispatcher-state.ts';
import type { CountInFlight } from './in-flight.ts';
import type { EndpointDeliveryStart } from './start-deliveries.ts';

export interface SlowLanes {
  /** Gathers deliveries of slow endpoints and starts their lanes. Resolves when the lanes are started or left to the sweep. */
  run(fanOutId: string, slow: readonly ClaimedDelivery[]): Promise<void>;
  /** Starts what has been gathered. A lane that takes longer is left to the sweep of another process, or of the next start. */
  close(): Promise<void>;
}

export interface LaneParts {
  readonly state: DispatcherState;
  readonly starts: Pick<EngineStarts, 'areStuck' | 'run'>;
  readonly count: CountInFlight;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Stamps rows that no other workflow has taken over since the claim with the ids of their lanes.
   *
   * @returns the ids of these rows; undefined while the database is away
   */
  stamp(assigned: readonly AssignedDelivery[]): Promise<ReadonlySet<string> | undefined>;
  /** Starts the workflow; one that runs carries the deliveries beside its own. */
  startLane(lane: Omit<EndpointDeliveryStart, 'ladderMs'>): Promise<unknown>;
}

/** The deliveries of a slow endpoint within some seconds. */
interface Gathering {
  readonly endpointId: string;
  /** Of the lane. */
  readonly workflowId: string;
  /** Deliveries whose rows are stamped. */
  readonly stamped: ClaimedDelivery[];
  /** Deliveries that were put into it, stamped or not. */
  size: number;
  /** The time of gathering is over. */
  isOver: boolean;
  readonly started: Promise<void>;
}

const RETRY_MS = 1_000;
const CLOSE_GRACE_MS = 3_000;

export function slowLanes({ state, starts, count, now, stamp, startLane }: LaneParts): SlowLanes {
  /** By endpoint. */
  const gatherings = new Map<string, Gathering>();
  const endsOfGathering = new Set<() => void>();
  /** Claims whose lanes are not started yet. */
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
    await starts.run(() => startLane({ workflowId, endpointId, deliveries: due, summary }));
  }

  /** @param gathered when the lane starts */
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

  /** @returns the ids of the rows that name their lane now */
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
