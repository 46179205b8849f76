/**
 * The waits and further attempts of one endpoint's unacknowledged deliveries.
 *
 *             ┌───────────── still owed ─────────────┐
 *             ▼                                      │
 *   wait until the next are due ──▶ attempt ──▶ success | exhausted ──▶ nothing left: completed
 *             ▲ ├ stopDeliveries, attemptNow: the wait ends at once
 *             │ └ carryDeliveries: begins again with more of them
 *
 * Durable timers come from the rows' due times, so a slow neighbour never shifts a retry. Every attempt reads endpoint
 * and plan again: when the endpoint is inactive or deleted, or the plan has no webhooks, the activity gives the
 * deliveries their final status and sends nothing. So `stopDeliveries` only ends the wait; a lost one costs time only.
 *
 * Deliveries that are due close together are attempted together; the trade-off is a retry up to 3 % of the first delay
 * later, for far fewer activities when an endpoint is down.
 */
import { condition, continueAsNew, setHandler, workflowInfo } from '@temporalio/workflow';
import type { EndpointDeliveryInput, EndpointDeliveryState, StopReason } from '#domain/webhooks/delivery-workflows.ts';
import { RETRY_GROUPING_RATIO } from '#domain/webhooks/retry-ladder.ts';
import { attemptOfEndpoint } from './delivery-activities.ts';
import { attemptSummary, waitSummary } from './readable.ts';
import { attemptNow, carryDeliveries, deliveryState, stopDeliveries } from './signals.ts';

export async function endpointDelivery(input: EndpointDeliveryInput): Promise<void> {
  const { endpointId, ladderMs } = input;
  const dueAtMs = new Map(input.deliveries.map((delivery) => [delivery.id, delivery.dueAtMs]));
  const groupingMs = (ladderMs[0] ?? 0) * RETRY_GROUPING_RATIO;
  const askedFor = new Set<string>(input.manual ? dueAtMs.keys() : []);
  let stopReason: StopReason | undefined;
  let hasMore = false;
  let phase: EndpointDeliveryState['phase'] = 'waiting';

  setHandler(stopDeliveries, ({ reason }) => {
    stopReason = reason;
  });
  setHandler(attemptNow, ({ deliveryId }) => {
    askedFor.add(deliveryId);
  });
  setHandler(carryDeliveries, ({ deliveries }) => {
    // What it carries already may have moved on since.
    const added = deliveries.filter(({ id }) => !dueAtMs.has(id));
    for (const delivery of added) dueAtMs.set(delivery.id, delivery.dueAtMs);
    hasMore ||= added.length > 0;
  });
  setHandler(deliveryState, () => {
    const waiting = [...dueAtMs].map(([id, at]) => ({ id, dueAtMs: at }));
    const next = Math.min(...dueAtMs.values());
    return {
      phase,
      waiting,
      nextAttemptAt: waiting.length === 0 ? null : new Date(next).toISOString(),
      stopReason: stopReason ?? null,
    };
  });

  while (dueAtMs.size > 0) {
    // Deliveries due within the grouping time of the earliest are attempted together, when the last of them is due:
    // never early.
    const first = Math.min(...dueAtMs.values());
    const group = [...dueAtMs].filter(([, at]) => at <= first + groupingMs).map(([id, at]) => ({ id, dueAtMs: at }));
    const delayMs = Math.max(...group.map((delivery) => delivery.dueAtMs)) - Date.now();

    phase = 'waiting';
    const woken = () => stopReason !== undefined || askedFor.size > 0;
    hasMore = false;
    if (delayMs > 0 && !woken())
      await condition(() => woken() || hasMore, delayMs, { summary: waitSummary(group, delayMs) });
    if (hasMore && !woken()) continue;

    phase = 'attempting';
    const manual = stopReason === undefined && askedFor.size > 0;
    const ids = stopReason !== undefined ? [...dueAtMs.keys()] : manual ? [...askedFor] : group.map(({ id }) => id);
    stopReason = undefined;
    if (manual) askedFor.clear();
    const { waiting } = await attemptOfEndpoint.executeWithOptions({ summary: attemptSummary(ids) }, [
      { deliveryIds: ids, ladderMs, lane: manual ? 'manual' : 'endpoint' },
    ]);

    for (const id of ids) dueAtMs.delete(id);
    const owed = waiting.find((endpoint) => endpoint.endpointId === endpointId)?.deliveries ?? [];
    // Wait before the next round: the worker's clock may be behind the engine's, and may have found them not due.
    const earliestMs = Date.now() + groupingMs;
    for (const delivery of owed) dueAtMs.set(delivery.id, Math.max(delivery.dueAtMs, earliestMs));

    // Signals received meanwhile are not passed to the next run, so they are processed first.
    if (workflowInfo().continueAsNewSuggested && !woken()) {
      const deliveries = [...dueAtMs].map(([id, at]) => ({ id, dueAtMs: at }));
      await continueAsNew<typeof endpointDelivery>({ endpointId, deliveries, ladderMs });
    }
  }
  phase = 'done';
}
