/** Approvals given in advance, which end. */

export const STANDING_APPROVAL_AHEAD_MAX_DAYS = 90;
export const STANDING_APPROVAL_MESSAGES_MAX = 10_000;
/** Addresses and domains of one. */
export const STANDING_APPROVAL_RECIPIENTS_MAX = 100;
/** Of one mailbox that have not ended: each submission looks at all of them. */
export const STANDING_APPROVALS_PER_MAILBOX_MAX = 50;

/** `used_up`: as many messages as it allows were submitted. */
export const STANDING_APPROVAL_STATES = ['active', 'used_up', 'ended', 'revoked'] as const;
export type StandingApprovalState = (typeof STANDING_APPROVAL_STATES)[number];

export function standingApprovalState(
  approval: {
    readonly endsAt: Date;
    readonly messagesMax: number;
    readonly messagesUsed: number;
    readonly revokedAt: Date | null;
  },
  nowMs: number,
): StandingApprovalState {
  if (approval.revokedAt !== null) return 'revoked';
  if (approval.endsAt.getTime() <= nowMs) return 'ended';
  return approval.messagesUsed >= approval.messagesMax ? 'used_up' : 'active';
}
