/**
 * Deliveries to endpoints that are known to be slow take a lane of their own, past the fan-outs.
 *
 *   claimed ──▶ gather for some seconds, per endpoint ──▶ stamp the rows with the lane's id ──▶ start endpointDelivery
 *
 * An endpoint that hangs would otherwise make a workflow of nearly each of its events, after a fan-out in which the
 * deliveries of other endpoints wait beside it. Each endpoint gathers for a time of its own: when many hang, the workflows
 * of all of them would otherwise start at the same moment, beside which the deliveries of the others wait.
 */
import type { EngineStarts } from '#core/platform/engine-starts.ts';
import type { ClaimedDelivery } from '#db/queries/deliveries/claim-deliveries.ts';
import { FAN_OUT_BATCH_MAX, TROUBLED_GATHER_MS, TROUBLED_GATHER_SPREAD_MS } from '#domain/delivery-limits.ts';
import { fanOutSummary } from '#domain/delivery-summary.ts';
import { slowEndpointDeliveryId } from '#domain/delivery-workflows.ts';
import { type DispatcherState, pause } from './dispatcher-state.ts';
import type { CountInFlight } from './in-flight.ts';
import type { DueDelivery } from './start-deliveries.ts';

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
  /** Stamps the rows with the id of the lane. @returns false while the database is away */
  stamp(deliveryIds: readonly string[], workflowId: string): Promise<boolean>;
  /** Starts the workflow; starting one that runs has no effect. */
  startLane(
    workflowId: string,
    endpointId: string,
    deliveries: readonly DueDelivery[],
    summary: string,
  ): Promise<unknown>;
}

/** The deliveries of a slow endpoint within some seconds. */
interface Gathering {
  readonly claimed: ClaimedDelivery[];
  readonly started: Promise<void>;
}

const RETRY_MS = 1_000;
const CLOSE_GRACE_MS = 3_000;

export function slowLanes({ state, starts, count, now, stamp, startLane }: LaneParts): SlowLanes {
  /** By endpoint. */
  const gatherings = new Map<string, Gathering>();
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
      const timer = setTimeout(end, TROUBLED_GATHER_MS + Math.random() * TROUBLED_GATHER_SPREAD_MS);
      endsOfGathering.add(end);
      if (state.closed) end();
    });

  async function start(endpointId: string, fanOutId: string, claimed: readonly ClaimedDelivery[]): Promise<void> {
    const workflowId = slowEndpointDeliveryId(endpointId, fanOutId);
    const ids = claimed.map(({ id }) => id);
    while (!(await stamp(ids, workflowId))) {
      if (state.closed) return;
      await pause(RETRY_MS);
    }
    const due = claimed.map((delivery) => ({ ...delivery, dueAtMs: now() }));
    const summary = `${fanOutSummary(claimed)}, which is slow: ${endpointId}`;
    await starts.run(() => startLane(workflowId, endpointId, due, summary));
  }

  /** @param gathered when the lane starts */
  function openGathering(endpointId: string, fanOutId: string, gathered: Promise<void>): Gathering {
    const claimed: ClaimedDelivery[] = [];
    const started = gathered
      .then(() => {
        if (gatherings.get(endpointId)?.claimed === claimed) gatherings.delete(endpointId);
        return start(endpointId, fanOutId, claimed);
      })
      .finally(() => lanes.delete(started));
    lanes.add(started);
    const gathering = { claimed, started };
    gatherings.set(endpointId, gathering);
    return gathering;
  }

  async function gather(fanOutId: string, slow: readonly ClaimedDelivery[]): Promise<void> {
    const started = new Set<Promise<void>>();
    for (const delivery of slow) {
      const { endpointId } = delivery;
      let gathering = gatherings.get(endpointId);
      if (gathering === undefined) gathering = openGathering(endpointId, fanOutId, untilGathered());
      // This batch is full: the next one starts as soon as the deliveries of this claim have been added.
      else if (gathering.claimed.length >= FAN_OUT_BATCH_MAX)
        gathering = openGathering(endpointId, fanOutId, Promise.resolve());
      gathering.claimed.push(delivery);
      started.add(gathering.started);
    }
    await Promise.all(started);
  }

  return {
    run: (fanOutId, slow) => count(slow, () => gather(fanOutId, slow)),
    async close() {
      for (const end of endsOfGathering) end();
      await Promise.race([Promise.allSettled(lanes), pause(starts.areStuck ? 0 : CLOSE_GRACE_MS)]);
    },
  };
}
