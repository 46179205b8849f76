import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { noticeOutage } from '#core/platform/engine/engine-starts.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import { openDeliveryWorkflows } from '#db/queries/deliveries/delivery-workflows.ts';
import {
  STOP_DELIVERIES_SIGNAL,
  type StopDeliveries,
  type StopReason,
  type StopTarget,
} from '#domain/webhooks/delivery-workflows.ts';
import { wakeRecoveries } from './recover-deliveries.ts';

const CONCURRENT_SIGNALS = 20;
/** Longer than the slowest neighbour can delay the fan-out that is about to start the workflow. */
const ROUNDS = 40;
const NEXT_ROUND_MS = 500;

/**
 * Ends the waits of deliveries whose endpoint was set inactive or deleted, or whose organization lost webhooks. Call it
 * after the commit: the woken workflows read the rows, give the deliveries their final status, and send nothing.
 *
 * Does not wait for the engine: a lost signal (engine unreachable, process killed) does no harm, because every attempt
 * reads the row again.
 */
export function stopDeliveries(
  services: Services,
  temporal: TemporalClient,
  target: StopTarget,
  reason: StopReason,
): void {
  const warn = (error: unknown, message: string) => {
    if (!noticeOutage(services.log, error)) services.log.warn({ reason: reasonOf(error), stop: reason }, message);
  };
  signalStop(services, temporal, target, reason).catch((error: unknown) =>
    warn(error, 'not all stop signals were sent; the next attempts read the rows'),
  );
  wakeRecoveries(services, temporal, target).catch((error: unknown) =>
    warn(error, 'not all recoveries were signalled; their next check reads the rows'),
  );
}

/**
 * As `stopDeliveries`, but resolves when every signal is sent. A workflow that is about to start (its rows name it, the
 * engine does not know it yet) is tried again for 20 seconds.
 *
 * @returns how many workflows were signalled
 */
export async function signalStop(
  services: Services,
  temporal: TemporalClient,
  target: StopTarget,
  reason: StopReason,
): Promise<number> {
  const signalled = new Set<string>();
  for (let round = 1; ; round++) {
    const workflowIds = (await openDeliveryWorkflows(services.db, target)).filter((id) => !signalled.has(id));
    const { reached, fault } = await signalEach(temporal, workflowIds, { reason });
    for (const id of reached) signalled.add(id);
    if (workflowIds.every((id) => signalled.has(id))) return signalled.size;
    if (round === ROUNDS) {
      if (fault !== undefined) throw fault;
      return signalled.size;
    }
    await delay(NEXT_ROUND_MS);
  }
}

/** Continues after an error of the engine. @returns ids of the workflows that were reached, and the last error */
async function signalEach(
  temporal: TemporalClient,
  workflowIds: readonly string[],
  input: StopDeliveries,
): Promise<{ readonly reached: readonly string[]; readonly fault: Error | undefined }> {
  const reached: string[] = [];
  let fault: Error | undefined;
  const queue = workflowIds.values();
  const signalNext = async () => {
    for (const workflowId of queue) {
      try {
        await temporal.client.workflow.getHandle(workflowId).signal(STOP_DELIVERIES_SIGNAL, input);
        reached.push(workflowId);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError))
          fault = error instanceof Error ? error : new Error(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_SIGNALS }, signalNext));
  return { reached, fault };
}
