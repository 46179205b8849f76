/**
 * A mailbox of an organization: its group (one or none), its life, and its tokens, each with a name, an access and an
 * expiry.
 */

export const MAILBOX_GROUP_MAX = 63;
/** Lower-case letters and digits, with single hyphens, dots or underscores inside. */
export const MAILBOX_GROUP_PATTERN = '^[a-z0-9]+(?:[._-][a-z0-9]+)*$';
/** Groups of a key. */
export const GROUPS_PER_KEY_MAX = 50;
/** Groups that the list of groups shows, by name. */
export const GROUPS_SHOWN_MAX = 1_000;

/** The mailboxes that an API key has access to: those in these groups; null: all of the organization. */
export type Reach = readonly string[] | null;

export const reaches = (reach: Reach, group: string | null): boolean =>
  reach === null || (group !== null && reach.includes(group));

/**
 * Life of a mailbox.
 *
 *   pending ──domain verified──▶ active ◀──▶ suspended
 *      └───────────┬────────────────┴───────────┘
 *               deleting  (its mail is purged after a grace time)
 *
 * Any of the first three is `expired` from `expiresAt` on, until a later time is set. No row has that status: the time
 * counts (`db/queries/mailboxes/status-now.ts`).
 */
export const MAILBOX_STATUSES = ['pending', 'active', 'suspended', 'expired', 'deleting'] as const;
export type MailboxStatus = (typeof MAILBOX_STATUSES)[number];

export const MAILBOX_TRANSITIONS: Readonly<Record<MailboxStatus, readonly MailboxStatus[]>> = {
  pending: ['active', 'deleting'],
  active: ['suspended', 'deleting'],
  suspended: ['active', 'deleting'],
  expired: ['deleting'],
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

/** `read` changes and sends nothing; `send` reads nothing. */
export const TOKEN_ACCESSES = ['full', 'read', 'send'] as const;
export type TokenAccess = (typeof TOKEN_ACCESSES)[number];

/** What a request with a mailbox token needs; `any`: every token may. */
export type TokenNeed = 'any' | 'read' | 'send' | 'change';

const ALLOWED: Readonly<Record<TokenAccess, readonly TokenNeed[]>> = {
  full: ['any', 'read', 'send', 'change'],
  read: ['any', 'read'],
  send: ['any', 'send'],
};

export const tokenAllows = (access: TokenAccess, need: TokenNeed): boolean => ALLOWED[access].includes(need);

/** Tokens of one mailbox that are not revoked, expired ones included. */
export const TOKENS_PER_MAILBOX_MAX = 20;
export const TOKEN_NAME_MAX = 100;
