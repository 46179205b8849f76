/**
 * How members who may decide are notified of held mail: by mail, by a message in a chat, and by a link that opens one
 * request for one member.
 *
 *   held ──▶ first notice at once; messages held in the next five minutes ──▶ one digest
 *   a day before it expires ──▶ reminder        expired ──▶ notice of that
 */

/** When mail about held messages is sent to a member. */
export const APPROVAL_MAIL_MODES = ['at_once', 'hourly', 'none'] as const;
export type ApprovalMailMode = (typeof APPROVAL_MAIL_MODES)[number];
export const APPROVAL_MAIL_DEFAULT: ApprovalMailMode = 'at_once';

/** After a notice the next one of the same kind waits for this time, and covers everything that happened meanwhile. */
export const APPROVAL_DIGEST_MS = 300_000;
/** The hourly digest is sent at full hours, UTC. */
export const APPROVAL_HOURLY_MS = 3_600_000;
/** A reminder is sent so long before a request expires, unless it is made later than that. */
export const APPROVAL_REMINDER_BEFORE_MS = 86_400_000;
/** Requests that a digest describes; further ones are counted. */
export const APPROVAL_DIGEST_ITEMS_MAX = 20;

export const APPROVAL_NOTICE_KINDS = ['approval_request', 'approval_reminder', 'approval_expired'] as const;
export type ApprovalNoticeKind = (typeof APPROVAL_NOTICE_KINDS)[number];

export const isApprovalNotice = (kind: string): kind is ApprovalNoticeKind =>
  APPROVAL_NOTICE_KINDS.some((each) => each === kind);

/** Forms of incoming webhooks: https://api.slack.com/messaging/webhooks and the Workflows webhook of Teams. */
export const CHAT_FORMS = ['slack', 'teams'] as const;
export type ChatForm = (typeof CHAT_FORMS)[number];
export const CHAT_URL_MAX_CHARACTERS = 2_048;

/** A link is valid as long as its request, and for this time at most. */
export const APPROVAL_LINK_LIFE_DAYS = 7;
/** Requests by links and with link tokens, per source address and minute: a page loads a message with its attachments. */
export const APPROVAL_LINK_REQUESTS_PER_MINUTE = 60;

/** Messages to try a chat webhook, per member and hour. */
export const CHAT_TESTS_PER_HOUR = 20;

/** When a reminder is due, in milliseconds since 1970; undefined: never, because the request expires too soon. */
export function reminderAtMs(createdAtMs: number, expiresAtMs: number): number | undefined {
  const atMs = expiresAtMs - APPROVAL_REMINDER_BEFORE_MS;
  return atMs > createdAtMs ? atMs : undefined;
}

/**
 * When a new notice is sent, if no other one is waiting.
 *
 * @param lastMs when the last one of its kind was sent, or was to be
 */
export function noticeAtMs(mode: Exclude<ApprovalMailMode, 'none'>, lastMs: number | undefined, nowMs: number): number {
  if (mode === 'hourly') return Math.ceil((nowMs + 1) / APPROVAL_HOURLY_MS) * APPROVAL_HOURLY_MS;
  return lastMs === undefined ? nowMs : Math.max(nowMs, lastMs + APPROVAL_DIGEST_MS);
}
