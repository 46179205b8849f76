/**
 * The way of one submitted message.
 *
 *   gate: consent, and the time it is scheduled for ──denied, expired, withdrawn──▶ done
 *       │ released, or nothing to wait for
 *       ▼
 *   attempts that are due ──▶ every recipient final ──▶ done
 *       ▲       └ some deferred
 *       └── wait (durable timer, at most two days in all; `cancel` ends it and stops what is not sent)
 *
 * Rows are the truth: activities read them again each time, and write the states that the API shows. A workflow that
 * the engine forgot is started again under the same id.
 */
import { condition, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { OutboundInput } from '../domain/outbound-workflow.ts';
import { consentGate } from './outbound-consent.ts';
import { durationText } from './readable.ts';
import { cancel, decide } from './signals.ts';

const { attemptOutbound, cancelOutbound } = proxyActivities<Pick<Activities, 'attemptOutbound' | 'cancelOutbound'>>({
  // Five minutes of silence are allowed to the other side at each step.
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds', maximumAttempts: 100 },
});

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
    const { nextAtMs, waitsFor } = await attemptOutbound.executeWithOptions({ summary: `send ${messageId}` }, [
      messageId,
    ]);
    if (nextAtMs === null) return;
    const waitMs = Math.max(0, nextAtMs - Date.now());
    const summary = `retry for ${waitsFor} in ${durationText(waitMs)}`;
    if (waitMs > 0) await condition(() => cancelled, waitMs, { summary });
  }
}
