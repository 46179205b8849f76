/**
 * Starts the workflows of deliveries, for the first time or again: always under the id that their rows carry, with the
 * same search attributes. Starting one that runs does no harm.
 */
import { type WorkflowHandle, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { searchKeys, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import {
  type DescribedDelivery,
  describedValues,
  fanOutSummary,
  retrySummary,
} from '#domain/webhooks/delivery-summary.ts';
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

const IDEMPOTENT = {
  workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
} as const;

function searchAttributes(deliveries: readonly DescribedDelivery[]): TypedSearchAttributes {
  const { deliveryIds, eventIds, ...values } = describedValues(deliveries);
  const texts = [
    { key: searchKeys.organizationId, value: values.organizationId },
    { key: searchKeys.endpointId, value: values.endpointId },
    { key: searchKeys.mailboxId, value: values.mailboxId },
    { key: searchKeys.eventType, value: values.eventType },
  ].flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value }]));
  return new TypedSearchAttributes([
    ...texts,
    { key: searchKeys.deliveryIds, value: [...deliveryIds] },
    { key: searchKeys.eventIds, value: [...eventIds] },
  ]);
}

const inTime = <Result>({ client }: TemporalClient, call: () => Promise<Result>): Promise<Result> =>
  client.withDeadline(Date.now() + START_TIMEOUT_MS, call);

/** Starts the first attempts of deliveries. */
export function startFanOut(
  temporal: TemporalClient,
  workflowId: string,
  deliveries: readonly DescribedDelivery[],
  ladderMs: readonly number[],
): Promise<WorkflowHandle> {
  const input: FanOutInput = { deliveryIds: deliveries.map(({ id }) => id), ladderMs };
  return inTime(temporal, () =>
    temporal.client.workflow.start(EVENT_FAN_OUT, {
      ...IDEMPOTENT,
      workflowId,
      taskQueue: temporal.taskQueue,
      args: [input],
      requestEagerStart: temporal.eager,
      typedSearchAttributes: searchAttributes(deliveries),
      staticSummary: fanOutSummary(deliveries),
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
}

const waitingOf = ({ deliveries }: EndpointDeliveryStart): WaitingDelivery[] =>
  deliveries.map(({ id, dueAtMs }) => ({ id, dueAtMs }));

function endpointDeliveryOptions(temporal: TemporalClient, start: EndpointDeliveryStart) {
  const { workflowId, endpointId, deliveries, ladderMs, summary = retrySummary(endpointId, deliveries.length) } = start;
  const input: EndpointDeliveryInput = { endpointId, deliveries: waitingOf(start), ladderMs };
  return {
    ...IDEMPOTENT,
    workflowId,
    taskQueue: temporal.taskQueue,
    args: [input],
    typedSearchAttributes: searchAttributes(deliveries),
    staticSummary: summary,
  };
}

/** Starts the waits and attempts of one endpoint's deliveries. */
export function startEndpointDelivery(temporal: TemporalClient, start: EndpointDeliveryStart): Promise<WorkflowHandle> {
  const options = endpointDeliveryOptions(temporal, start);
  return inTime(temporal, () => temporal.client.workflow.start(ENDPOINT_DELIVERY, options));
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
  return inTime(temporal, () => temporal.client.workflow.signalWithStart(ENDPOINT_DELIVERY, options));
}
