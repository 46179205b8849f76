/**
 * Starts the workflows of deliveries, for the first time or again: always under the id that their rows carry, with the
 * same search attributes. Starting one that runs does no harm.
 */
import {
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowIdConflictPolicy,
} from '@temporalio/client';
import { inTime, startOptions } from '#core/platform/engine/start-workflow.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import { timeOfIdMs } from '#domain/ids.ts';
import {
  type DescribedDelivery,
  describedValues,
  fanOutSummary,
  retrySummary,
} from '#domain/webhooks/delivery-status.ts';
import {
  CARRY_DELIVERIES_SIGNAL,
  type CarryDeliveries,
  ENDPOINT_DELIVERY,
  type EndpointDeliveryInput,
  EVENT_FAN_OUT,
  type FanOutInput,
  type WaitingDelivery,
} from '#domain/webhooks/delivery-workflows.ts';

/** The engine takes one in milliseconds; after this the answer is taken for lost, and the start is repeated. */
const START_TIMEOUT_MS = 10_000;

/** An id for a fan-out. @param nowMs milliseconds since 1970 */
export const newFanOutId = (nowMs: number): string => newId('event', nowMs).replace('evt_', 'fan-out/');

function fanOutOptions(
  temporal: TemporalClient,
  workflowId: string,
  deliveries: readonly DescribedDelivery[],
  ladderMs: readonly number[],
) {
  const input: FanOutInput = { deliveryIds: deliveries.map(({ id }) => id), ladderMs };
  return {
    ...startOptions(temporal, workflowId, fanOutSummary(deliveries), describedValues(deliveries)),
    args: [input],
  };
}

/** Starts the first attempts of deliveries. */
export function startFanOut(
  temporal: TemporalClient,
  workflowId: string,
  deliveries: readonly DescribedDelivery[],
  ladderMs: readonly number[],
): Promise<WorkflowHandle> {
  const options = {
    ...fanOutOptions(temporal, workflowId, deliveries, ladderMs),
    requestEagerStart: temporal.eager,
  };
  return inTime(temporal, START_TIMEOUT_MS, () => temporal.client.workflow.start(EVENT_FAN_OUT, options));
}

/** As `startFanOut`, but a fan-out that runs already, such as one that a sweep started, carries them beside its own. */
export async function startOrJoinFanOut(
  temporal: TemporalClient,
  workflowId: string,
  deliveries: readonly DescribedDelivery[],
  ladderMs: readonly number[],
): Promise<WorkflowHandle> {
  const options = fanOutOptions(temporal, workflowId, deliveries, ladderMs);
  try {
    return await inTime(temporal, START_TIMEOUT_MS, () =>
      temporal.client.workflow.start(EVENT_FAN_OUT, {
        ...options,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
        requestEagerStart: temporal.eager,
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  const more: CarryDeliveries = {
    deliveries: deliveries.map(({ id }) => ({ id, dueAtMs: timeOfIdMs(id) ?? 0 })),
  };
  return inTime(temporal, START_TIMEOUT_MS, () =>
    temporal.client.workflow.signalWithStart(EVENT_FAN_OUT, {
      ...options,
      signal: CARRY_DELIVERIES_SIGNAL,
      signalArgs: [more],
    }),
  );
}

/** A delivery, and when its next attempt is due in milliseconds since 1970. */
export interface DueDelivery extends DescribedDelivery {
  readonly dueAtMs: number;
}

/** Deliveries of one endpoint, and the workflow that is to carry them. */
export interface EndpointDeliveryStart {
  readonly workflowId: string;
  readonly endpointId: string;
  readonly deliveries: readonly DueDelivery[];
  readonly ladderMs: readonly number[];
  /** Default: that they are retries. */
  readonly summary?: string;
  /** A person asked for one attempt of deliveries that may be final already. */
  readonly manual?: boolean;
}

const waitingOf = ({ deliveries }: EndpointDeliveryStart): WaitingDelivery[] =>
  deliveries.map(({ id, dueAtMs }) => ({ id, dueAtMs }));

function endpointDeliveryOptions(temporal: TemporalClient, start: EndpointDeliveryStart) {
  const { workflowId, endpointId, deliveries, ladderMs, summary = retrySummary(endpointId, deliveries.length) } = start;
  const input: EndpointDeliveryInput = {
    endpointId,
    deliveries: waitingOf(start),
    ladderMs,
    ...(start.manual ? { manual: true } : {}),
  };
  return { ...startOptions(temporal, workflowId, summary, describedValues(deliveries)), args: [input] };
}

/**
 * Starts the waits and attempts of one endpoint's deliveries.
 *
 * @param withinMs how long the caller waits for the engine
 */
export function startEndpointDelivery(
  temporal: TemporalClient,
  start: EndpointDeliveryStart,
  withinMs = START_TIMEOUT_MS,
): Promise<WorkflowHandle> {
  const options = {
    ...endpointDeliveryOptions(temporal, start),
    // Somebody waits for an attempt that was asked for.
    requestEagerStart: start.manual === true && temporal.eager,
  };
  return inTime(temporal, withinMs, () => temporal.client.workflow.start(ENDPOINT_DELIVERY, options));
}

/** As `startEndpointDelivery`, but a workflow that runs already carries the deliveries beside its own. */
export function startOrJoinEndpointDelivery(
  temporal: TemporalClient,
  start: EndpointDeliveryStart,
): Promise<WorkflowHandle> {
  const options = {
    ...endpointDeliveryOptions(temporal, start),
    signal: CARRY_DELIVERIES_SIGNAL,
    signalArgs: [{ deliveries: waitingOf(start) } satisfies CarryDeliveries],
  };
  return inTime(temporal, START_TIMEOUT_MS, () => temporal.client.workflow.signalWithStart(ENDPOINT_DELIVERY, options));
}
