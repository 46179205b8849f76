import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

/**
 * The attempt as an activity. Its retries are for our own faults (a worker that died, a database that is away), never
 * for a refused delivery, which is an outcome. They are many, because giving up would leave rows to the sweep.
 */
export const { attemptDeliveries } = proxyActivities<Pick<Activities, 'attemptDeliveries'>>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '6 seconds',
  retry: {
    initialInterval: '200 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '10 seconds',
    maximumAttempts: 100,
  },
});
