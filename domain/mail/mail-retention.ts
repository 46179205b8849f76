/** How long the mail of a mailbox is kept, when a mailbox ends by itself, and what a legal hold keeps. */

/** Days after which messages are deleted; null: they are kept. */
export interface MailRetention {
  /** Since a message came into the mailbox, whatever folder it is in. */
  readonly allMailDays: number | null;
  /** Since a message came into the trash. */
  readonly trashDays: number | null;
  /** Since a message came into Junk. */
  readonly spamDays: number | null;
}

export const KEPT_FOR_EVER: MailRetention = { allMailDays: null, trashDays: null, spamDays: null };
/** A hundred years: longer is no limit. */
export const MAIL_RETENTION_MAX_DAYS = 36_500;

/**
 * An expired mailbox is refused on every protocol, and can be used again with a later time of expiry. After these days it
 * is deleted with its mail.
 */
export const EXPIRED_MAILBOX_GRACE_DAYS = 14;

export const LEGAL_HOLD_REASON_MAX = 500;
/** Holds of an organization at the same time. */
export const LEGAL_HOLDS_MAX = 200;
