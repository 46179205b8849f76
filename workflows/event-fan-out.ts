/**
 * First attempts of every delivery that waited at the claim: those of one event in quiet times, hundreds in a burst.
 * Acknowledged deliveries are finished. The others continue in one `endpointDelivery` per endpoint, so a waiting
 * workflow always means an endpoint in trouble.
 *
 *   attemptDeliveries(all) ──▶ all acknowledged ──▶ completed
 *        ▲   └──▶ per endpoint: start endpointDelivery, which outlives this workflow ──▶ completed
 *        │                        └ the sweep has started it: signal carryDeliveries
 *        └─ carryDeliveries: more of them, whose transactions ended after its start, or which a lane took over
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  getExternalWorkflowHandle,
  ParentClosePolicy,
  setHandler,
  startChild,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { retrySummary } from '#domain/webhooks/delivery-status.ts';
import {
  endpointDeliveryId,
  type FanOutInput,
  type FanOutResult,
  type WaitingEndpoint,
} from '#domain/webhooks/delivery-workflows.ts';
import { attemptDeliveries } from './delivery-activities.ts';
import { endpointDelivery } from './endpoint-delivery.ts';
import { endpointSearchAttributes } from './readable.ts';
import { carryDeliveries } from './signals.ts';

const HAND_OVER_ROUNDS = 3;

export async function eventFanOut({ deliveryIds, ladderMs }: FanOutInput): Promise<FanOutResult> {
  const known = new Set(deliveryIds);
  const added: string[] = [];
  setHandler(carryDeliveries, ({ deliveries }) => {
    const more = deliveries.map(({ id }) => id).filter((id) => !known.has(id));
    for (const id of more) known.add(id);
    added.push(...more);
  });
  let waitingCount = 0;
  for (let ids = deliveryIds; ids.length > 0; ids = added.splice(0)) {
    waitingCount += await firstAttempts(ids, ladderMs);
  }
  return { settled: known.size - waitingCount, waiting: waitingCount };
}

/** @returns deliveries that were handed to `endpointDelivery` workflows */
async function firstAttempts(deliveryIds: readonly string[], ladderMs: readonly number[]): Promise<number> {
  const count = deliveryIds.length;
  const summary = count === 1 ? `first attempt of ${deliveryIds[0]}` : `first attempts of ${count} deliveries`;
  const { waiting } = await attemptDeliveries.executeWithOptions({ summary }, [
    { deliveryIds, ladderMs, lane: 'fan-out' },
  ]);

  // Awaited: a parent that closes before its children have started never starts them, not even with ABANDON.
  await Promise.all(waiting.map((endpoint) => startRetries(endpoint, ladderMs)));
  return waiting.reduce((sum, endpoint) => sum + endpoint.deliveries.length, 0);
}

/** Hands the deliveries to the workflow if it is there already: the sweep may have been quicker, with a part of them. */
async function startRetries(endpoint: WaitingEndpoint, ladderMs: readonly number[]): Promise<void> {
  const { endpointId, deliveries } = endpoint;
  const workflowId = endpointDeliveryId(endpointId, workflowInfo().workflowId);
  for (let round = 1; ; round++) {
    try {
      await startChild(endpointDelivery, {
        workflowId,
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        args: [{ endpointId, deliveries, ladderMs }],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        typedSearchAttributes: endpointSearchAttributes(endpoint),
        staticSummary: retrySummary(endpointId, deliveries.length),
      });
      return;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    try {
      await getExternalWorkflowHandle(workflowId).signal(carryDeliveries, { deliveries });
      return;
    } catch (error) {
      // Usually it has ended since, so it can be started again.
      if (round === HAND_OVER_ROUNDS) throw error;
    }
  }
}
