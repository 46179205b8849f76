/** Delivery notices for the sender of a message (RFC 3461): requested with the message, stored with it. */

/** Of one recipient (RFC 3461 §4.1). `NEVER` cannot be combined. */
export const NOTIFY_VALUES = ['NEVER', 'SUCCESS', 'FAILURE', 'DELAY'] as const;
export type NotifyValue = (typeof NOTIFY_VALUES)[number];

/** How much of the message a failure notice contains (RFC 3461 §4.3). */
export const RETURNED_PARTS = ['FULL', 'HDRS'] as const;
export type ReturnedPart = (typeof RETURNED_PARTS)[number];

export interface RecipientNotices {
  /** Null: the default, notices of failures and delays. */
  readonly notify: readonly NotifyValue[] | null;
  /** `<type>;<address>` as the submitter knows the recipient, decoded; null: not said. */
  readonly originalRecipient: string | null;
}

export interface MessageNotices {
  /** The submitter's own name for this submission, decoded; null: not said. */
  readonly envelopeId: string | null;
  /** Null: not said; then the header. */
  readonly returned: ReturnedPart | null;
}

/**
 * Action of a notice (RFC 3464 §2.3.3): failed, still tried, delivered to a mailbox here, or relayed to a host that
 * sends no reports.
 */
export type NoticeAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

const ASKED_BY: Readonly<Record<NoticeAction, NotifyValue>> = {
  failed: 'FAILURE',
  delayed: 'DELAY',
  delivered: 'SUCCESS',
  relayed: 'SUCCESS',
  expanded: 'SUCCESS',
};

export const wantsNotice = ({ notify }: Pick<RecipientNotices, 'notify'>, action: NoticeAction): boolean =>
  notify === null ? ASKED_BY[action] !== 'SUCCESS' : notify.includes(ASKED_BY[action]);

/** RFC 3461 §4.4 and §4.2, encoded as in the SMTP command. */
export const ENVELOPE_ID_MAX_CHARACTERS = 100;
export const ORIGINAL_RECIPIENT_MAX_CHARACTERS = 500;
