/**
 * An erasure that goes on in the background. The row has what is to be done and how far it is, so the activity begins
 * with what is left, however often it is repeated.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { ERASURE_HEARTBEAT_MS } from '#domain/erasure-workflow.ts';

const { eraseContent: erase } = proxyActivities<Pick<Activities, 'eraseContent'>>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: ERASURE_HEARTBEAT_MS,
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes', maximumAttempts: 1_000 },
});

export async function eraseContent(erasureId: string): Promise<void> {
  await erase.executeWithOptions({ summary: 'erase, portion by portion' }, [erasureId]);
}
