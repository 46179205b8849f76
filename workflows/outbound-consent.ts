/**
 * The gate of mail that may not go yet, a part of `outboundMessage`.
 *
 *   look at the rows ─▶ held: wait until it expires or `decide` comes ─▶ look again ─▶ released | ended
 *                   └─▶ scheduled: wait for its time, or `decide` (it was withdrawn) ─▶ look again
 *
 * The signal only wakes; a lost one is healed by the timer, and by the sweep that starts the workflow again.
 */
import { condition, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { passConsentGate } = proxyActivities<Pick<Activities, 'passConsentGate'>>({
  // One look and one transaction. Without heartbeats this is also how long a dead worker goes unnoticed; two at once are
  // kept apart by the lock of the message.
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
    const waitMs = Math.max(1_000, untilMs - Date.now());
    const until = new Date(untilMs).toISOString();
    const summary = gate.kind === 'held' ? `held for consent until ${until}` : `scheduled for ${until}`;
    await condition(() => decisions.count > seen, waitMs, { summary });
  }
}
