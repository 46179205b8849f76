import { type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { ENDPOINT_HEARTBEAT_TIMEOUT_MS, HEARTBEAT_TIMEOUT_MS } from '#domain/webhooks/delivery-limits.ts';

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

/** For fan-outs. */
export const { attemptDeliveries } = proxyActivities<Pick<Activities, 'attemptDeliveries'>>({
  ...OPTIONS,
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
});

/** For a single endpoint. */
export const { attemptDeliveries: attemptOfEndpoint } = proxyActivities<Pick<Activities, 'attemptDeliveries'>>({
  ...OPTIONS,
  heartbeatTimeout: ENDPOINT_HEARTBEAT_TIMEOUT_MS,
});
