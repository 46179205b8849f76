/**
 * Retention, run by a Schedule every six hours: creates partitions for the coming days and deletes rows older than
 * their period (`domain/retention.ts`). Each step is an activity of its own, repeated while there is more. A failing
 * step does not block the others; the run fails at its end, so that the failure is visible.
 */
import { ApplicationFailure, isCancellation, patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { LATER_RETENTION_STEPS, RETENTION_STEPS, type RetentionInput, type RetentionStep } from '#domain/retention.ts';

/** A step of half a minute is repeated this often at most; the next run continues. */
const ROUNDS_MAX = 60;

const { retentionStep } = proxyActivities<Pick<Activities, 'retentionStep'>>({
  // A portion or a lock may take longer than the half minute that a step works.
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '10 seconds', maximumInterval: '2 minutes', maximumAttempts: 10 },
});

export async function deleteHistory(): Promise<void> {
  const failed: RetentionStep[] = [];
  const all = patched('expiry and retention of mail');
  for (const step of RETENTION_STEPS) {
    if (!all && LATER_RETENTION_STEPS.includes(step)) continue;
    try {
      let input: RetentionInput = { step };
      for (let round = 0; round < ROUNDS_MAX; round++) {
        const { more, after } = await retentionStep.executeWithOptions({ summary: `retention: ${step}` }, [input]);
        if (!more) break;
        input = after === undefined ? { step } : { step, after };
      }
    } catch (error) {
      if (isCancellation(error)) throw error;
      failed.push(step);
    }
  }
  if (failed.length > 0)
    throw ApplicationFailure.nonRetryable(`retention failed for ${failed.join(', ')}; the next run goes on`);
}
