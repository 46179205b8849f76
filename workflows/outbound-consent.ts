/**
 * The gate for mail that may not be sent yet, a part of `outboundMessage`.
 *
 *   look at the rows ─▶ held: wait until it expires, a reminder is due or `decide` comes ─▶ look again ─▶ released | ended
 *                   └─▶ scheduled: wait for its time, or `decide` (it was withdrawn) ─▶ look again
 *
 * The end of a stop is waited for like a time. The signal is only a wake-up; the timer, and the sweep that starts the
 * workflow again, replace a lost one.
 */
import { condition, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';

const { passConsentGate } = proxyActivities<Pick<Activities, 'passConsentGate'>>({
  // One check and one transaction. Without heartbeats this is also the time until a dead worker is noticed; the lock of
  // the message serializes two concurrent runs.
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds', maximumAttempts: 100 },
});

/** @returns whether the message may go on */
export async function consentGate(messageId: string, decisions: { readonly count: number }): Promise<boolean> {
  for (;;) {
    const seen = decisions.count;
    const gate = await passConsentGate.executeWithOptions({ summary: `consent of ${messageId}` }, [messageId]);
    if (gate.kind === 'released' || gate.kind === 'ended') return gate.kind === 'released';
    const untilMs = gate.kind === 'held' ? gate.expiresAtMs : gate.sendAtMs;
    const lookAtMs = gate.kind === 'held' ? (gate.remindAtMs ?? untilMs) : untilMs;
    const waitMs = Math.max(1_000, lookAtMs - Date.now());
    const until = new Date(untilMs).toISOString();
    const summary =
      gate.kind === 'held'
        ? `held for consent until ${until}`
        : gate.stopped === true
          ? 'sending is stopped by a person'
          : `scheduled for ${until}`;
    await condition(() => decisions.count > seen, waitMs, { summary });
  }
}
