/** The stream of an organization's changes: names and numbers. */

/** Kinds of changes, each the name of an event. */
export const ORGANIZATION_CHANGES = [
  'messages',
  'mailbox',
  'login',
  'consent',
  'outbox',
  'deliveries',
  'recovery',
  'endpoint',
  'receiver',
  'domain',
  'organization',
  'member',
  'api_key',
  'notice',
] as const;
export type OrganizationChangeKind = (typeof ORGANIZATION_CHANGES)[number];

/** How often a process with open streams polls for changes: one statement for all of them. */
export const ORGANIZATION_CHANGES_LOOK_MS = 400;
/** Maximum changes of one poll; above it, streams report that everything may have changed. */
export const ORGANIZATION_CHANGES_AT_ONCE = 2_000;
/** Maximum things that a stream buffers for its reader; above it, it reports that everything may have changed. */
export const ORGANIZATION_CHANGES_PENDING_MAX = 500;
/** Ids that one event names. */
export const ORGANIZATION_CHANGE_IDS_MAX = 100;
/** Maximum mailboxes per poll whose changed messages are listed by id; of others only the mailbox is listed. */
export const ORGANIZATION_CHANGE_MAILBOXES_NAMED = 20;
/** A stream may be resumed for this long. */
export const ORGANIZATION_CHANGE_RETENTION_DAYS = 1;
/** Streams of one organization, and of one person or key in it, in one process. */
export const ORGANIZATION_STREAMS_MAX = 1_000;
export const ORGANIZATION_STREAMS_PER_PRINCIPAL_MAX = 30;
