/**
 * Notices of the service to owners and admins of an organization, or to an invited person, by mail and in the API.
 *
 *   waiting ──sent, or captured──▶ sent | captured
 *      │ └─refused for now──▶ waiting, by the ladder of outgoing mail
 *      └─refused for good, or two days are over──▶ failed
 */
import { APPROVAL_NOTICE_KINDS } from '#domain/sending/approval-notices.ts';
import { DESK_NOTICE_KINDS } from '#domain/sending/desk-notices.ts';

export const MEMBER_NOTICE_KINDS = [
  'webhook_failing',
  'webhook_suspended',
  'role_mail',
  'invitation',
  ...APPROVAL_NOTICE_KINDS,
  'chat_test',
  'password_reset',
  'password_changed',
  'canary_sent',
  ...DESK_NOTICE_KINDS,
] as const;
export type MemberNoticeKind = (typeof MEMBER_NOTICE_KINDS)[number];

export const MEMBER_NOTICE_STATES = ['waiting', 'sent', 'captured', 'failed'] as const;
export type MemberNoticeState = (typeof MEMBER_NOTICE_STATES)[number];

/** How a notice is sent: by mail, or to a member's chat webhook. */
export const MEMBER_NOTICE_CHANNELS = ['mail', 'chat'] as const;
export type MemberNoticeChannel = (typeof MEMBER_NOTICE_CHANNELS)[number];

/** In the text of a notice, for the credential that only the mail has. */
export const CREDENTIAL_PLACE = '[credential]';

/** Name the workflow is registered under. */
export const MEMBER_NOTICE = 'memberNotice';

/** Id of the workflow that sends a notice. */
export const memberNoticeWorkflowId = (noticeId: string): string => `notice/${noticeId}`;

/** Input of `memberNotice`. */
export interface MemberNoticeInput {
  readonly noticeId: string;
}

/** When the next attempt is due, in milliseconds since 1970; null: it is over. */
export interface MemberNoticeProgress {
  readonly nextAtMs: number | null;
}

/** So long a notice that is over can be read in the API. */
export const MEMBER_NOTICE_RETENTION_DAYS = 90;

/** A notice that waits and is overdue by this is started again by the sweep. */
export const MEMBER_NOTICE_OVERDUE_MS = 120_000;
