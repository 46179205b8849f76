/**
 * Sends one notice to an owner or admin; its row has the content, the recipient and the result.
 *
 *   attempt ──▶ final: done
 *      ▲  └ refused for now
 *      └── wait (durable timer, at most two days in all)
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import type { MemberNoticeInput } from '#domain/organizations/member-notices.ts';
import { durationText } from './readable.ts';

const { sendMemberNotice } = proxyActivities<Pick<Activities, 'sendMemberNotice'>>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds', maximumAttempts: 100 },
});

export async function memberNotice({ noticeId }: MemberNoticeInput): Promise<void> {
  for (;;) {
    const { nextAtMs } = await sendMemberNotice.executeWithOptions({ summary: `send ${noticeId}` }, [noticeId]);
    if (nextAtMs === null) return;
    const waitMs = Math.max(1_000, nextAtMs - Date.now());
    await sleep(waitMs, { summary: `retry in ${durationText(waitMs)}` });
  }
}
