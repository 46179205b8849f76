/**
 * Tells owners and admins of an organization something, by mail: one notice each, written with the change it is about,
 * sent by a workflow of its own, kept in the API for those whom no mail reaches.
 */
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Sql } from '../db/database.ts';
import {
  insertMemberNotices,
  type MemberNoticeRow,
  noticeRecipients,
  overdueNotices,
} from '../db/queries/member-notices.ts';
import {
  MEMBER_NOTICE,
  MEMBER_NOTICE_OVERDUE_MS,
  type MemberNoticeInput,
  type MemberNoticeKind,
  memberNoticeWorkflowId,
} from '../domain/member-notices.ts';
import { newId } from './new-id.ts';
import type { Services } from './services.ts';
import { searchKeys, type TemporalClient } from './temporal-client.ts';

/** A notice that is written and not sent yet. */
export type NewMemberNotice = Pick<MemberNoticeRow, 'id' | 'organizationId' | 'kind'>;

const ENGINE_TIMEOUT_MS = 2_000;
const SWEEP_ROWS = 100;

/** Writes a notice for each owner and admin. Call it in the transaction of what it tells, and `sendNotices` after it. */
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

/** Starts what sends them. Never throws: what fails here the sweep does. */
export async function sendNotices(
  services: Pick<Services, 'log'>,
  temporal: TemporalClient,
  notices: readonly NewMemberNotice[],
): Promise<void> {
  for (const notice of notices)
    await temporal.client
      .withDeadline(Date.now() + ENGINE_TIMEOUT_MS, () => start(temporal, notice))
      .catch((error: Error) =>
        services.log.warn({ error: error.message, noticeId: notice.id }, 'a notice was not started; the sweep will'),
      );
}

/** Starts those again that the engine forgot. @returns how many */
export async function sweepNotices(services: Services, temporal: TemporalClient): Promise<number> {
  const before = new Date(services.now() - MEMBER_NOTICE_OVERDUE_MS);
  const overdue = await overdueNotices(services.db, before, SWEEP_ROWS);
  for (const notice of overdue) await start(temporal, notice);
  return overdue.length;
}

async function start(temporal: TemporalClient, { id, organizationId, kind }: NewMemberNotice): Promise<void> {
  const input: MemberNoticeInput = { noticeId: id };
  await temporal.client.workflow.start(MEMBER_NOTICE, {
    workflowId: memberNoticeWorkflowId(id),
    taskQueue: temporal.taskQueue,
    args: [input],
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    staticSummary: `tell a member: ${kind}`,
    typedSearchAttributes: new TypedSearchAttributes([{ key: searchKeys.organizationId, value: organizationId }]),
  });
}
