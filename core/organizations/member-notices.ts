/**
 * Notices to owners and admins of an organization: one each, written in the transaction of the change, sent by mail by
 * its own workflow, and listed in the API for members whom no mail reaches.
 */
import type { EngineStarts } from '#core/platform/engine/engine-starts.ts';
import { ANSWER_WITHIN_MS, callAfterCommit, inTime, startOptions } from '#core/platform/engine/start-workflow.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import {
  insertMemberNotices,
  type MemberNoticeRow,
  noticeRecipients,
  takeOverdueNotices,
} from '#db/queries/notices/member-notices.ts';
import {
  MEMBER_NOTICE,
  MEMBER_NOTICE_OVERDUE_MS,
  type MemberNoticeInput,
  type MemberNoticeKind,
  memberNoticeWorkflowId,
} from '#domain/organizations/member-notices.ts';

/** A notice that is written and not sent yet. */
export type NewMemberNotice = Pick<MemberNoticeRow, 'id' | 'organizationId' | 'kind'>;

const SWEEP_ROWS = 100;

/** Writes a notice for each owner and admin. Call it in the transaction of the change, and `sendNotices` after it. */
export async function writeNotices(
  sql: Sql,
  notice: {
    readonly organizationId: string;
    readonly kind: MemberNoticeKind;
    readonly targetId: string;
    readonly subject: string;
    readonly text: string;
  },
  nowMs: number,
): Promise<NewMemberNotice[]> {
  const recipients = await noticeRecipients(sql, notice.organizationId);
  const notices = recipients.map((recipient) => ({ ...notice, id: newId('notice', nowMs), recipient }));
  if (notices.length > 0) await insertMemberNotices(sql, notices, new Date(nowMs));
  return notices;
}

/** Starts the workflows that send them. Never throws: the sweep repeats failed starts. */
export async function sendNotices(
  services: Pick<Services, 'db' | 'log'>,
  temporal: TemporalClient,
  notices: readonly NewMemberNotice[],
): Promise<void> {
  for (const notice of notices)
    await callAfterCommit(
      services,
      temporal,
      () => start(temporal, notice),
      { noticeId: notice.id },
      'a notice was not started; the sweep will start it',
    );
}

/** Starts those again that the engine forgot; of several replicas one starts each. @returns how many */
export async function sweepNotices(
  services: Services,
  temporal: TemporalClient,
  starts: EngineStarts,
): Promise<number> {
  const now = new Date(services.now());
  const before = new Date(now.getTime() - MEMBER_NOTICE_OVERDUE_MS);
  const overdue = await takeOverdueNotices(services.db, before, now, SWEEP_ROWS);
  for (const notice of overdue)
    await starts.run(() => inTime(temporal, ANSWER_WITHIN_MS, () => start(temporal, notice)));
  return overdue.length;
}

async function start(temporal: TemporalClient, { id, organizationId, kind }: NewMemberNotice): Promise<void> {
  const input: MemberNoticeInput = { noticeId: id };
  await temporal.client.workflow.start(MEMBER_NOTICE, {
    ...startOptions(temporal, memberNoticeWorkflowId(id), `notify a member: ${kind}`, { organizationId }),
    args: [input],
  });
}
