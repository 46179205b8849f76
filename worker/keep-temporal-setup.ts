/**
 * Keeps namespace, search attributes and Schedules in Temporal. Checked every 15 s, because Temporal may lose its state
 * (an emptied or restored database) while the workers run; without the Schedule no partitions would be made or dropped,
 * without the search attributes no workflow would start.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { namespaceIdOf, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { completeTemporal } from '#core/platform/engine/temporal-setup.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import type { Services } from '#core/platform/process/services.ts';
import { DELETE_HISTORY } from '#domain/webhooks/delivery-workflows.ts';

const LOOK_EVERY_MS = 15_000;
const RETRY_MS = 2_000;
const ANSWER_WITHIN_MS = 5_000;

export interface KeptSetup {
  close(): Promise<void>;
}

/** Starts checking; never throws. If Temporal does not let us create something, this is logged once with what to do. */
export function keepTemporalSetup(
  { log }: Pick<Services, 'log'>,
  temporal: TemporalClient,
  {
    lookEveryMs = LOOK_EVERY_MS,
    onNamespace,
  }: {
    readonly lookEveryMs?: number;
    /** At the first look, and again for a namespace that was made anew meanwhile. */
    onNamespace?(namespaceId: string): Promise<void>;
  } = {},
): KeptSetup {
  const outage = outageLog(log, 'Temporal');
  const closing = new AbortController();
  let refused = '';
  let defined = false;
  let namespaceId: string | undefined;

  async function look(): Promise<void> {
    const { client, namespace } = temporal;
    const made = await completeTemporal(client.connection, namespace);
    const found = await namespaceIdOf(client.connection, namespace);
    if (found !== undefined && found !== namespaceId) await onNamespace?.(found);
    namespaceId = found ?? namespaceId;
    const schedules = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () => keepSchedules(temporal, defined));
    made.push(...schedules.map((id) => `Schedule ${id}`));
    // At the first check it is a new installation; later Temporal has lost it.
    if (made.length > 0) log[defined ? 'warn' : 'info']({ made }, 'made what Temporal lacked');
    defined = true;
  }

  function failed(error: unknown): void {
    const reason = reasonOf(error);
    if (isGrpcServiceError(error) || isGrpcServiceError(error instanceof Error ? error.cause : undefined))
      return outage.failed(error);
    // One line for each reason, not for each check.
    if (reason !== refused) log.error({ reason }, 'Temporal cannot be set up; trying again');
    refused = reason;
  }

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      let waitMs = lookEveryMs;
      try {
        await look();
        outage.recovered();
        refused = '';
      } catch (error) {
        if (closing.signal.aborted) return;
        failed(error);
        waitMs = Math.min(RETRY_MS, lookEveryMs);
      }
      await sleep(waitMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  }

  const running = loop();
  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}

/** Installations that share a namespace have task queues of their own. */
export const historyScheduleId = (taskQueue: string): string => `${taskQueue}/delete-history`;

function deleteHistorySchedule(taskQueue: string) {
  const scheduleId = historyScheduleId(taskQueue);
  return {
    scheduleId,
    spec: { intervals: [{ every: '6 hours' }] },
    action: {
      type: 'startWorkflow',
      workflowType: DELETE_HISTORY,
      workflowId: scheduleId,
      taskQueue,
      args: [],
      staticSummary: 'retention: remove what is past its period, make the coming days',
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 day' },
  } as const satisfies ScheduleOptions;
}

/**
 * Creates the Schedules of the service. A paused Schedule stays paused. Safe to call from every worker.
 *
 * @param areDefined false: an existing one is updated; true: it is left alone, and only read while it is there
 * @returns ids of those that were created
 */
export async function keepSchedules(temporal: TemporalClient, areDefined = false): Promise<string[]> {
  const { schedule } = temporal.client;
  const definition = deleteHistorySchedule(temporal.taskQueue);
  const handle = schedule.getHandle(definition.scheduleId);
  if (areDefined && (await exists(handle))) return [];
  try {
    await schedule.create(definition);
    return [definition.scheduleId];
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { spec, action, policies } = definition;
    if (!areDefined) await handle.update(({ state }) => ({ spec, action, policies, state }));
    return [];
  }
}

async function exists(handle: ScheduleHandle): Promise<boolean> {
  try {
    await handle.describe();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}
