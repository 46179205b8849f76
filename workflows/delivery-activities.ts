import { type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';

/**
 * The attempt as an activity. Its retries are for infrastructure errors (a dead worker, an unreachable database), never
 * for a refused delivery, which is an outcome. There are many, because otherwise the sweep would have to restart the
 * workflows.
 */
const OPTIONS: ActivityOptions = {
  startToCloseTimeout: '10 minutes',
  retry: {
    initialInterval: '200 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '10 seconds',
    maximumAttempts: 100,
  },
};

/** For fan-outs. What a dead worker leaves behind goes to another one soon. */
export const { attemptDeliveries } = proxyActivities<Pick<Activities, 'attemptDeliveries'>>({
  ...OPTIONS,
  heartbeatTimeout: '6 seconds',
});

/** For a single endpoint. There are many when endpoints hang, and each heartbeat is a write of the engine. */
export const { attemptDeliveries: attemptOfEndpoint } = proxyActivities<Pick<Activities, 'attemptDeliveries'>>({
  ...OPTIONS,
  heartbeatTimeout: '15 seconds',
});
