import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { DELETE_HISTORY } from '#domain/webhooks/delivery-workflows.ts';

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
 * Creates the Schedules of the service, or updates existing ones. A paused Schedule stays paused. Safe to call from
 * every worker.
 *
 * @returns ids of those that were created
 */
export async function keepSchedules(temporal: TemporalClient): Promise<string[]> {
  const { schedule } = temporal.client;
  const definition = deleteHistorySchedule(temporal.taskQueue);
  try {
    await schedule.create(definition);
    return [definition.scheduleId];
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { spec, action, policies } = definition;
    await schedule.getHandle(definition.scheduleId).update(({ state }) => ({ spec, action, policies, state }));
    return [];
  }
}

/**
 * Makes a Schedule that is missing, for instance because Temporal has lost its state. Reads only while it is there.
 *
 * @returns ids of those that were created
 */
export async function restoreSchedules(temporal: TemporalClient): Promise<string[]> {
  const { schedule } = temporal.client;
  const definition = deleteHistorySchedule(temporal.taskQueue);
  try {
    await schedule.getHandle(definition.scheduleId).describe();
    return [];
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
  try {
    await schedule.create(definition);
    return [definition.scheduleId];
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return [];
    throw error;
  }
}
