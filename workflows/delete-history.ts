import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const activities = proxyActivities<Pick<Activities, 'deleteHistory'>>({
  startToCloseTimeout: '10 minutes',
  retry: { initialInterval: '10 seconds', maximumAttempts: 10 },
});

/** Retention, run by a Schedule every six hours: drops days past 30 days and makes the partitions of coming ones. */
export async function deleteHistory(): Promise<void> {
  await activities.deleteHistory.executeWithOptions({ summary: 'drop old partitions, make new ones' }, []);
}
