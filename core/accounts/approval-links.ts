/**
 * The link of a notice: a credential that opens one request for one member, without a password. It can read and decide
 * that request, nothing else. It ends with the decision, with the request, and when the member is removed or gets
 * another role or password.
 */

import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import type { Sql } from '#db/database.ts';
import { APPROVAL_LINK_LIFE_DAYS } from '#domain/sending/approval-notices.ts';

const DAY_MS = 86_400_000;

/** The page of a link. The token is in its fragment, which no server's log sees and no mail scanner sends. */
export const approvalLinkUrl = (publicUrl: string, token: string): string => `${publicUrl}/approve#${token}`;

/** The page of a request for those who sign in. */
export const approvalPageUrl = (publicUrl: string, consentId: string): string =>
  `${publicUrl}/approvals?open=${consentId}`;

export interface NewApprovalLink {
  readonly organizationId: string;
  readonly consentId: string;
  readonly memberId: string;
  readonly noticeId: string;
  /** Of the request. */
  readonly expiresAt: Date;
}

/** Makes a link. @returns its token, which is not stored */
export async function createApprovalLink(
  { pepper, now }: Pick<Services, 'pepper' | 'now'>,
  sql: Sql,
  link: NewApprovalLink,
): Promise<string> {
  const token = newCredential('approvalLink');
  const nowMs = now();
  const expiresAt = new Date(Math.min(link.expiresAt.getTime(), nowMs + APPROVAL_LINK_LIFE_DAYS * DAY_MS));
  await sql.query(
    `insert into approval_links (id, organization_id, consent_id, member_id, notice_id, token_hash, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      newId('approvalLink', nowMs),
      link.organizationId,
      link.consentId,
      link.memberId,
      link.noticeId,
      hashCredential(token, pepper),
      new Date(nowMs),
      expiresAt,
    ],
  );
  return token;
}

/** Ends the links of a notice that must not carry them. */
export async function deleteLinksOfNotice(sql: Sql, noticeId: string): Promise<void> {
  await sql.query(`delete from approval_links where notice_id = $1`, [noticeId]);
}

/** Ends the links of a member whose role changes. */
export async function deleteLinksOfMember(sql: Sql, memberId: string): Promise<void> {
  await sql.query(`delete from approval_links where member_id = $1`, [memberId]);
}

/** Ends the links of a person in all organizations: the password changes. */
export async function deleteLinksOfUser(sql: Sql, userId: string): Promise<void> {
  await sql.query(`delete from approval_links where member_id in (select id from members where user_id = $1)`, [
    userId,
  ]);
}
