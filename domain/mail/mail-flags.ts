/** Flags and labels of messages. */
export { MAIL_FLAGS, type MailFlag } from '@agent-mailbox/mail-store/flags';

/** Keyword of a message that was forwarded (RFC 9051 §2.3.2). */
export const FORWARDED_KEYWORD = '$Forwarded';

/** Labels the service itself gives: mail with them is filed in Junk and omitted from lists by default. */
export const UNAUTHENTICATED_LABEL = 'unauthenticated';
export const SPAM_LABEL = 'spam';
export const JUNK_LABELS: readonly string[] = [UNAUTHENTICATED_LABEL, SPAM_LABEL];
