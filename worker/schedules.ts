import { ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import type { TemporalClient } from '../core/temporal-client.ts';
import { DELETE_HISTORY } from '../domain/delivery-workflows.ts';

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
      staticSummary: 'retention: drop days past 30 days, make the coming ones',
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 day' },
  } as const satisfies ScheduleOptions;
}

/**
 * Makes the Schedules of the service, or gives those that are there the definition of today. Whether somebody has
 * paused one stays as it is. Safe to call from every worker.
 */
export async function keepSchedules(temporal: TemporalClient): Promise<void> {
  const { schedule } = temporal.client;
  const definition = deleteHistorySchedule(temporal.taskQueue);
  try {
    await schedule.create(definition);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { spec, action, policies } = definition;
    await schedule.getHandle(definition.scheduleId).update(({ state }) => ({ spec, action, policies, state }));
  }
}
