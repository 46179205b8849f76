import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';

/**
 * The attempt as an activity. Its retries are for infrastructure errors (a dead worker, an unreachable database), never
 * for a refused delivery, which is an outcome. There are many, because otherwise the sweep would have to restart the
 * workflows.
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
