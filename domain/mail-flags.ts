/** System flags of a message in a folder (RFC 9051 §2.3.2) as bits of `placement_state.flags`. */
export const MAIL_FLAGS = { seen: 1, answered: 2, flagged: 4, deleted: 8, draft: 16 } as const;
export type MailFlag = keyof typeof MAIL_FLAGS;

/** Keyword of a message that was forwarded (RFC 9051 §2.3.2). */
export const FORWARDED_KEYWORD = '$Forwarded';

/** Labels the service itself gives: mail under them is filed to Junk and left out of lists by default. */
export const UNAUTHENTICATED_LABEL = 'unauthenticated';
export const SPAM_LABEL = 'spam';
export const JUNK_LABELS: readonly string[] = [UNAUTHENTICATED_LABEL, SPAM_LABEL];
