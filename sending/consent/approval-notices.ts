/**
 * Notices about held mail, to members who may decide: each is written with the change it is about, collects other held
 * messages until it is sent, and is sent by the workflow of notices (`sending/notices/send-member-notice.ts`).
 */

import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import {
  type ApprovalNoticeTarget,
  addToOpenNotices,
  lastNoticesOf,
  membersToNotify,
  takeReminder,
  waitingNoticesAbout,
} from '#db/queries/notices/approval-notices.ts';
import { oneLine } from '#domain/mail/one-line.ts';
import type { MemberNoticeChannel } from '#domain/organizations/member-notices.ts';
import {
  APPROVAL_MAIL_DEFAULT,
  type ApprovalNoticeKind,
  noticeAtMs,
  reminderAtMs,
} from '#domain/sending/approval-notices.ts';

/** A request for consent for a notice. */
export interface NoticedRequest {
  readonly organizationId: string;
  readonly consentId: string;
  readonly subject: string;
}

const SUBJECTS = {
  approval_request: 'Approval needed',
  approval_reminder: 'Approval needed within a day',
  approval_expired: 'Expired without approval',
} as const satisfies Record<ApprovalNoticeKind, string>;

/** Subject of a notice. @param subjects of the messages it is about; null: it must not show them */
export function approvalSubject(kind: ApprovalNoticeKind, subjects: readonly string[] | null): string {
  if (subjects === null) return SUBJECTS[kind];
  const [only = ''] = subjects;
  const about = subjects.length === 1 ? oneLine(only) || '(no subject)' : `${subjects.length} messages`;
  return `${SUBJECTS[kind]}: ${about}`;
}

/**
 * Adds a request to the next notice of each member, by mail and by chat as the member chose. Call it in the transaction
 * of the change; `waitingNoticesAbout` finds the notices to start after the commit.
 */
export async function writeApprovalNotices(
  sql: Sql,
  kind: ApprovalNoticeKind,
  request: NoticedRequest,
  nowMs: number,
): Promise<void> {
  const members = await membersToNotify(sql, request.organizationId);
  const last = await lastNoticesOf(
    sql,
    members.map(({ memberId }) => memberId),
    kind,
  );
  const targets: ApprovalNoticeTarget[] = [];
  const add = (memberId: string, channel: MemberNoticeChannel, recipient: string, mode: 'at_once' | 'hourly') => {
    const before = last.find((each) => each.memberId === memberId && each.channel === channel);
    const sendAt = new Date(noticeAtMs(mode, before?.sendAt.getTime(), nowMs));
    targets.push({ noticeId: newId('notice', nowMs), memberId, channel, recipient, sendAt });
  };
  for (const { memberId, email, approvals, chatHost } of members) {
    const mode = approvals ?? APPROVAL_MAIL_DEFAULT;
    if (mode !== 'none') add(memberId, 'mail', email, mode);
    if (chatHost !== null) add(memberId, 'chat', chatHost, 'at_once');
  }
  if (targets.length === 0) return;
  await addToOpenNotices(
    sql,
    { ...request, kind, subject: approvalSubject(kind, [request.subject]) },
    targets,
    new Date(nowMs),
  );
}

/**
 * Writes the reminders of a request once their time has come.
 *
 * @returns when they are due, in milliseconds since 1970; undefined: they are written, or there are none
 */
export async function remindInTime(
  db: { transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> },
  request: NoticedRequest & { readonly createdAt: Date; readonly expiresAt: Date; readonly remindedAt: Date | null },
  nowMs: number,
): Promise<number | undefined> {
  const dueMs = reminderAtMs(request.createdAt.getTime(), request.expiresAt.getTime());
  if (dueMs === undefined || request.remindedAt !== null) return undefined;
  if (nowMs < dueMs) return dueMs;
  await db.transaction(async (sql) => {
    if (await takeReminder(sql, request.consentId, new Date(nowMs)))
      await writeApprovalNotices(sql, 'approval_reminder', request, nowMs);
  });
  return undefined;
}

/** Notices about a request that are to be started. */
export const noticesToStart = (sql: Sql, consentId: string): Promise<NewMemberNotice[]> =>
  waitingNoticesAbout(sql, consentId);
