import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { TemporalClient } from '../core/temporal-client.ts';
import { DELETE_HISTORY } from '../domain/delivery-workflows.ts';

const historyScheduleId = (taskQueue: string): string => `${taskQueue}/delete-history`;

/** Makes the Schedules of the service, once per namespace. Safe to call from every worker. */
export async function createSchedules(temporal: TemporalClient): Promise<void> {
  // Installations that share a namespace have task queues of their own.
  const scheduleId = historyScheduleId(temporal.taskQueue);
  try {
    await temporal.client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: '6 hours' }] },
      action: {
        type: 'startWorkflow',
        workflowType: DELETE_HISTORY,
        workflowId: scheduleId,
        taskQueue: temporal.taskQueue,
        args: [],
        staticSummary: 'retention: drop days past 30 days, make the coming ones',
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 day' },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
