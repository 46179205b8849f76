/**
 * Starts workflows again whose deliveries are overdue: after a crash between claim and start, after an emptied or
 * restored engine. A workflow that still runs is not affected.
 *
 * A process that starts checks everything that is due: the workflows it ran before may be gone. After that all replicas
 * share a round every 30 seconds (`db/queries/deliveries/delivery-workflows.ts`).
 */

import { sweepNotices } from '#core/organizations/member-notices.ts';
import { wakeablePause } from '#core/platform/batching/circuit.ts';
import type { EngineStarts } from '#core/platform/engine/engine-starts.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { DATABASE } from '#core/platform/process/patient-database.ts';
import type { Services } from '#core/platform/process/services.ts';
import { retryDelaysMs } from '#core/platform/settings/settings.ts';
import { sweepRecoveries } from '#core/webhooks/endpoints/recover-deliveries.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import {
  type OverdueWorkflow,
  overdueWorkflows,
  takeFirstSweep,
  takeOverdueWorkflows,
} from '#db/queries/deliveries/delivery-workflows.ts';
import { OVERDUE_SWEEP_AFTER_MS } from '#domain/webhooks/delivery-limits.ts';
import { startEndpointDelivery, startFanOut, startOrJoinEndpointDelivery } from './start-deliveries.ts';

interface DeliverySweep {
  /** Resolves when the current round is over. */
  close(): Promise<void>;
}

const ROUND_MS = 30_000;
const PORTION_MS = 1_000;
/** Most overdue deliveries wait for a hanging endpoint, so a round can be slow. */
const PORTION_WORKFLOWS = 500;
const STARTS_AT_ONCE = 8;
/** Processes that start together sweep once. */
const FIRST_SWEEP_AGAIN_MS = 2_000;
const LOOK_MS = 1_000;

export function startDeliverySweep(services: Services, temporal: TemporalClient, starts: EngineStarts): DeliverySweep {
  const { db, log } = services;
  const ladderMs = retryDelaysMs(services.settings);
  const outage = outageLog(log, DATABASE);
  let closed = false;
  const { pause: wait, wake: stopWaiting } = wakeablePause(() => closed);

  /** @param isFirst a workflow that runs may lack some of them, if its dispatcher died before it could add them */
  async function startAgain({ workflowId, deliveries }: OverdueWorkflow, isFirst: boolean): Promise<void> {
    const [first] = deliveries;
    if (first === undefined || closed) return;
    try {
      const startEndpoint = isFirst ? startOrJoinEndpointDelivery : startEndpointDelivery;
      await starts.run(() =>
        workflowId.startsWith('delivery/')
          ? startEndpoint(temporal, { workflowId, endpointId: first.endpointId, deliveries, ladderMs })
          : startFanOut(temporal, workflowId, deliveries, ladderMs),
      );
    } catch (error) {
      // The others do not wait for it; the next round tries it again.
      log.error(
        { reason: reasonOf(error), workflowId },
        'the engine refuses to start a workflow of overdue deliveries',
      );
    }
  }

  async function startAll(overdue: readonly OverdueWorkflow[], isFirst = false): Promise<void> {
    const queue = overdue.values();
    const next = async () => {
      for (const workflow of queue) await startAgain(workflow, isFirst);
    };
    await Promise.all(Array.from({ length: STARTS_AT_ONCE }, next));
    if (overdue.length > 0) log.info({ workflows: overdue.length }, 'started workflows of overdue deliveries again');
  }

  /** Everything that is due, whatever the state of the shared round. */
  async function sweepFirst(): Promise<void> {
    while (!closed && !(await takeFirstSweep(db, FIRST_SWEEP_AGAIN_MS))) await wait(LOOK_MS);
    for (let after = ''; !closed; ) {
      const overdue = await overdueWorkflows(db, new Date(services.now()), after, PORTION_WORKFLOWS);
      await startAll(overdue, true);
      if (overdue.length < PORTION_WORKFLOWS) return;
      after = overdue.at(-1)?.workflowId ?? '';
    }
  }

  async function sweepPortion(): Promise<void> {
    const before = new Date(services.now() - OVERDUE_SWEEP_AFTER_MS);
    const pace = { limit: PORTION_WORKFLOWS, portionMs: PORTION_MS, roundMs: ROUND_MS };
    const overdue = await takeOverdueWorkflows(db, before, pace);
    if (overdue === undefined) return;
    await startAll(overdue);
    if (overdue.length === PORTION_WORKFLOWS || closed) return;
    const recoveries = await sweepRecoveries(services, temporal, starts);
    const notices = await sweepNotices(services, temporal, starts);
    if (notices > 0) log.info({ notices }, 'started overdue notices again');
    if (recoveries > 0) log.info({ recoveries }, 'started overdue recoveries again');
  }

  async function loop(): Promise<void> {
    let first = true;
    while (!closed) {
      try {
        if (first) await sweepFirst();
        first = false;
        await sweepPortion();
        outage.recovered();
      } catch (error) {
        if (isInfrastructureError(error)) outage.failed(error);
        else log.warn({ error: String(error) }, 'the sweep for overdue deliveries failed; trying again');
      }
      if (!closed) await wait(LOOK_MS);
    }
  }

  const running = loop();
  return {
    async close() {
      closed = true;
      stopWaiting();
      await running;
    },
  };
}
