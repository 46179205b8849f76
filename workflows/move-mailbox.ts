/**
 * An export or import of a mailbox that goes on in the background. The row says how far it is, so the activity goes on
 * there, however often it is repeated.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { MOVE_HEARTBEAT_MS } from '#domain/mailbox-moves.ts';

const { moveMailbox: move } = proxyActivities<Pick<Activities, 'moveMailbox'>>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: MOVE_HEARTBEAT_MS,
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes', maximumAttempts: 1_000 },
});

export async function moveMailbox(moveId: string): Promise<void> {
  await move.executeWithOptions({ summary: 'export or import, portion by portion' }, [moveId]);
}
