/**
 * Life of a mailbox.
 *
 *   pending ──domain verified──▶ active ◀──▶ suspended
 *      └───────────┬────────────────┴───────────┘
 *               deleting  (its mail is purged after a grace time)
 */
export const MAILBOX_STATUSES = ['pending', 'active', 'suspended', 'deleting'] as const;
export type MailboxStatus = (typeof MAILBOX_STATUSES)[number];

export const MAILBOX_TRANSITIONS: Readonly<Record<MailboxStatus, readonly MailboxStatus[]>> = {
  pending: ['active', 'deleting'],
  active: ['suspended', 'deleting'],
  suspended: ['active', 'deleting'],
  deleting: [],
};

/** `synced`, or `pending` while the mail host does not serve the mailbox yet. */
export const SYNC_STATUSES = ['pending', 'synced'] as const;
export type SyncStatus = (typeof SYNC_STATUSES)[number];

/** The address of a deleted mailbox cannot be reused for this time. */
export const ADDRESS_REUSE_AFTER_DAYS = 30;

/** What happens to mail that fails DMARC under a policy of quarantine or reject. */
export const UNAUTHENTICATED_MAIL = ['junk', 'inbox', 'reject'] as const;
export type UnauthenticatedMail = (typeof UNAUTHENTICATED_MAIL)[number];
