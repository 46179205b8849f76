/**
 * The path of one submitted message.
 *
 *   gate: consent, and the time it is scheduled for ──denied, expired, withdrawn──▶ done
 *       │ released, or nothing to wait for
 *       ▼
 *   attempts that are due ──▶ every recipient final ──▶ done
 *       ▲       └ some deferred, or a person stopped sending
 *       └── wait (durable timer, at most two days in all without stops; `cancel` ends it and stops what is not sent,
 *           `decide` ends the wait for the end of a stop, and for an attempt that an operator makes due)
 *
 * Rows are the truth: activities read them again each time, and write the states that the API shows. A workflow that
 * the engine lost is started again under the same id. One with many destinations continues as new before its history
 * gets too long.
 */
import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import type { OutboundInput } from '#domain/sending/outbound-workflow.ts';
import { consentGate } from './outbound-consent.ts';
import { outboundRetrySummary } from './readable.ts';
import { cancel, decide } from './signals.ts';

const { attemptOutbound, cancelOutbound } = proxyActivities<Pick<Activities, 'attemptOutbound' | 'cancelOutbound'>>({
  // The other host may be silent for five minutes at each step.
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds', maximumAttempts: 100 },
});

const PAUSE_MS = 1_000;

export async function outboundMessage({ messageId }: OutboundInput): Promise<void> {
  const decisions = { count: 0 };
  let cancelled = false;
  setHandler(decide, () => {
    decisions.count++;
  });
  setHandler(cancel, () => {
    cancelled = true;
  });

  if (!(await consentGate(messageId, decisions))) return;
  for (;;) {
    if (cancelled) {
      await cancelOutbound.executeWithOptions({ summary: `cancel ${messageId}` }, [messageId]);
      return;
    }
    const seen = decisions.count;
    const progress = await attemptOutbound.executeWithOptions({ summary: `send ${messageId}` }, [messageId]);
    if (progress.nextAtMs === null) return;
    const waitMs = progress.nextAtMs - Date.now();
    const summary =
      progress.stopped === true ? 'sending is stopped by a person' : outboundRetrySummary(progress, waitMs);
    const mayBeWoken = progress.stopped === true || progress.mayBeWoken === true;
    const isWoken = () => cancelled || (mayBeWoken && decisions.count > seen);
    if (waitMs > 0) await condition(isWoken, waitMs, { summary });
    // The clock of the worker may be behind that of the engine: without a pause this would loop.
    else await condition(() => cancelled, PAUSE_MS, { summary });
    if (!cancelled && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof outboundMessage>({ messageId });
  }
}
