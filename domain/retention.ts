/**
 * How long each table keeps its rows, and which step deletes them. Every table is listed: a test compares the list with
 * the schema, and `docs/configuration.md` shows it.
 */

import { SIGN_IN_SOURCE_KEPT_DAYS } from './access/credential-format.ts';
import { OAUTH_CLIENT_LIFE_DAYS, OAUTH_UNUSED_CLIENT_LIFE_HOURS, REFRESH_TOKEN_LIFE_DAYS } from './access/oauth.ts';
import { PASSKEYS_PER_PERSON_MAX } from './access/passkeys.ts';
import { IDEMPOTENCY_KEY_LIFE_HOURS } from './idempotency-limits.ts';
import { FREE_OBJECT_LIFE_MINUTES } from './mail/blob-storage.ts';
import { DOMAIN_REPORT_RETENTION_DAYS } from './mail/domain-reports.ts';
import { FILE_LIFE_HOURS, UPLOAD_MAX_MINUTES } from './mail/file-limits.ts';
import {
  CHANGE_LOG_RETENTION_DAYS,
  DELETED_MAILBOX_RETENTION_DAYS,
  READING_ATTEMPT_RETENTION_DAYS,
  REDELIVERY_WINDOW_DAYS,
} from './mail/mail-limits.ts';
import { MAIL_REFUSAL_RETENTION_DAYS } from './mail/mail-log.ts';
import { HELD_MAIL_RETENTION_DAYS, RELEASED_THREAD_RETENTION_DAYS } from './mail/screening.ts';
import { EXPORT_LIFE_HOURS, MOVE_LIFE_HOURS } from './mailbox-moves.ts';
import { MEMBER_NOTICE_RETENTION_DAYS } from './organizations/member-notices.ts';
import { OUTBOUND_CONTENT_RETENTION_DAYS } from './sending/outbound.ts';
import { SENDING_USE_RETENTION_DAYS } from './sending/sending-brakes.ts';
import { SENDER_READ_RETENTION_DAYS } from './sending/unknown-senders.ts';
import { DELIVERY_RETENTION_DAYS } from './webhooks/delivery-limits.ts';
import { RECEIVER_LIFE_HOURS, RECEIVER_REQUESTS_MAX } from './webhooks/endpoint-limits.ts';
import { ORGANIZATION_CHANGE_RETENTION_DAYS } from './webhooks/organization-stream.ts';

/** Retention of invitations after they expired. */
export const INVITATION_RETENTION_DAYS = 90;
/** A recipient without mail in either direction for this time needs a new approval. */
export const KNOWN_RECIPIENT_RETENTION_DAYS = 730;
/** Standing approvals, after their end. */
export const STANDING_APPROVAL_RETENTION_DAYS = 90;
/** Contexts of traces, by event or message. A later span begins a trace of its own. */
export const TRACE_CONTEXT_RETENTION_DAYS = 7;
/** Digests of attachments, at least; as long as the message if that is longer. */
export const ATTACHMENT_DIGEST_RETENTION_DAYS = 730;
/** The use of a known recipient is noted at most this often: it is no write for each mail. */
export const KNOWN_RECIPIENT_USE_NOTED_DAYS = 30;
/**
 * An address that did not exist may be tried again after this time. Complaints are kept until a person removes them.
 */
export const HARD_BOUNCE_RETENTION_DAYS = 730;
/** Message-IDs by which answers find their thread, once no message of the thread is left. */
export const THREAD_REFERENCE_RETENTION_DAYS = 400;
/** A deleted endpoint is kept as long as its deliveries, and a day. */
export const DELETED_ENDPOINT_RETENTION_DAYS = DELIVERY_RETENTION_DAYS + 1;
/** The row of a deleted mailbox is kept until its mail and its sent mail are deleted, and at least this long. */
export const DELETED_MAILBOX_ROW_RETENTION_DAYS = 90;
export const AUDIT_RETENTION_DAYS_DEFAULT = 400;
export const SENT_MAIL_RETENTION_DAYS_DEFAULT = 400;

/**
 * The steps of retention in their order: referencing rows are deleted before the rows they reference. Each is an
 * activity of its own that works in bounded portions, so a large backlog or an error of one does not delay the others.
 * A step is named after its first table and deletes others too: see `removedBy`. The names are in histories of workflows.
 */
export const RETENTION_STEPS = [
  'partitions',
  'idempotencyKeys',
  'rateLimits',
  'sessions',
  'invitations',
  'auditEntries',
  'recoveries',
  'notices',
  'roleMail',
  'sentContents',
  'sentMail',
  'knownRecipients',
  'suppressions',
  'endpoints',
  'expiredMailboxes',
  'oldMail',
  'mailboxFolders',
  'folders',
  'messages',
  'blobs',
  'redeliveryKeys',
  'readingAttempts',
  'changeLog',
  'threadReferences',
  'mailboxes',
  'keywords',
  'uids',
] as const;
export type RetentionStep = (typeof RETENTION_STEPS)[number];

/** Steps that a run of an earlier version does not have. */
export const LATER_RETENTION_STEPS: readonly RetentionStep[] = ['expiredMailboxes', 'oldMail'];

export interface RetentionInput {
  readonly step: RetentionStep;
  /** Where the step continues, from its last activity. */
  readonly after?: string;
}

export interface RetentionOutput {
  /** Rows removed, partitions dropped. */
  readonly done: number;
  /** The time of one activity was over before the work was. */
  readonly more: boolean;
  /** Where to continue, for steps that skip rows. */
  readonly after?: string;
}

interface TableRetention {
  readonly table: string;
  /** In words, for the document. */
  readonly keptFor: string;
  /** The step that deletes its rows; `owner`: rows are deleted by a person, or with their parent. */
  readonly removedBy: RetentionStep | 'owner';
}

const days = (count: number): string => (count === 1 ? 'a day' : `${count} days`);
const kept = (table: string, removedBy: TableRetention['removedBy'], keptFor: string): TableRetention => ({
  table,
  keptFor,
  removedBy,
});

export const TABLE_RETENTION: readonly TableRetention[] = [
  kept('organizations', 'owner', 'until it is deleted'),
  kept('users', 'owner', 'as long as the account'),
  kept('members', 'owner', 'as long as the membership'),
  kept(
    'sign_in_sources',
    'owner',
    `${days(SIGN_IN_SOURCE_KEPT_DAYS)} after their last use, by the next sign-in of the person`,
  ),
  kept('invitations', 'invitations', `${days(INVITATION_RETENTION_DAYS)} after they expired`),
  kept('sessions', 'sessions', 'until they expire'),
  kept('api_keys', 'owner', 'until they are revoked; their number is limited'),
  kept('audit_entries', 'auditEntries', '`AUDIT_RETENTION_DAYS`'),
  kept('idempotency_keys', 'idempotencyKeys', `${IDEMPOTENCY_KEY_LIFE_HOURS} hours; secrets in answers 10 minutes`),
  kept('rate_limits', 'rateLimits', 'until their window ends'),
  kept('domains', 'owner', 'until they are deleted; their number is limited'),
  kept('dkim_key', 'owner', 'one for each domain of the instance'),
  kept('dkim_rotation', 'owner', 'until DNS lacks the record of a key that signs no more'),
  kept('acme_account', 'owner', 'one for each certificate authority'),
  kept('acme_certificate', 'owner', 'one for each name'),
  kept('acme_challenge', 'owner', 'until the end of the order, ten minutes at most'),
  kept(
    'mailboxes',
    'mailboxes',
    `until deleted, then ${days(DELETED_MAILBOX_ROW_RETENTION_DAYS)} and as long as their sent mail`,
  ),
  kept('legal_hold', 'owner', 'until it is lifted'),
  kept('mailbox_counter', 'mailboxes', 'as the mailbox'),
  kept('mailbox_sending', 'mailboxes', 'as the mailbox'),
  kept('mailbox_login', 'mailboxes', 'as the mailbox, one row for each protocol'),
  kept('mailbox_token', 'mailboxes', 'until it is revoked, or as the mailbox; their number is limited'),
  kept('subscription', 'mailboxes', 'as the mailbox'),
  kept('imported_message', 'mailboxes', 'as the mailbox, so that an import that runs again brings nothing twice'),
  kept('mail_keyword', 'mailboxes', 'as the mailbox; unused ones are deleted when there are many'),
  kept(
    'held_arrival',
    'roleMail',
    `${days(HELD_MAIL_RETENTION_DAYS)} after they arrived, decided or not; bytes until the decision`,
  ),
  kept('released_thread', 'roleMail', days(RELEASED_THREAD_RETENTION_DAYS)),
  kept('sender_read', 'rateLimits', days(SENDER_READ_RETENTION_DAYS)),
  kept('mailbox_canary', 'mailboxes', 'until it is forgotten, or as the mailbox'),
  kept('mailbox_alias', 'mailboxes', 'as the mailbox: a dropped address is refused as long'),
  kept('sender_list', 'owner', 'until they are deleted, or their mailbox'),
  kept('webhook_endpoints', 'endpoints', `until deleted, then ${days(DELETED_ENDPOINT_RETENTION_DAYS)}`),
  kept('webhook_signing_key', 'owner', 'two for each organization: the one that signs, and the one before it'),
  kept('webhook_receiver', 'recoveries', `${RECEIVER_LIFE_HOURS} hours`),
  kept('received_request', 'recoveries', `as the receiver, the last ${RECEIVER_REQUESTS_MAX}`),
  kept('events', 'partitions', days(DELIVERY_RETENTION_DAYS)),
  kept('deliveries', 'partitions', days(DELIVERY_RETENTION_DAYS)),
  kept('delivery_attempts', 'partitions', days(DELIVERY_RETENTION_DAYS)),
  kept('delivery_allowances', 'owner', 'one row for each organization'),
  kept('delivery_lanes', 'owner', 'one row for each running worker'),
  kept('sweeps', 'owner', 'one row for each sweep'),
  kept('recoveries', 'recoveries', `${days(DELIVERY_RETENTION_DAYS)} after their end`),
  kept('member_notices', 'notices', `${days(MEMBER_NOTICE_RETENTION_DAYS)} after they were sent or given up`),
  kept('member_notice_settings', 'owner', 'as the membership'),
  kept('member_desk_notice', 'owner', 'as the membership'),
  kept('approval_notices', 'notices', 'as the notice'),
  kept('approval_notice_items', 'notices', 'as the notice'),
  kept(
    'approval_links',
    'sessions',
    'until they expire; deleted at once with the membership, another role or password',
  ),
  kept('password_resets', 'sessions', 'until they are used or expire'),
  kept('device_sign_ins', 'sessions', 'until they are used or expire'),
  kept('sign_in_challenges', 'sessions', 'until they are used or expire'),
  kept('passkey_ceremonies', 'sessions', 'until they are answered or expire'),
  kept('oidc_sign_ins', 'sessions', 'until they are complete or expire'),
  kept('oidc_identities', 'owner', 'as long as the account is linked'),
  kept('passkeys', 'owner', `until they are removed; ${PASSKEYS_PER_PERSON_MAX} for each account at most`),
  kept('totp_factor', 'owner', 'one for each account, until it is removed'),
  kept('recovery_code', 'owner', 'ten for each account, until they are replaced or removed'),
  kept('oauth_requests', 'sessions', 'until they are decided or expire'),
  kept(
    'oauth_clients',
    'sessions',
    `${OAUTH_UNUSED_CLIENT_LIFE_HOURS} hours if nobody used them, else ${days(OAUTH_CLIENT_LIFE_DAYS)} after their last request, and as long as they have access`,
  ),
  kept('oauth_grants', 'sessions', `until revoked, or ${days(REFRESH_TOKEN_LIFE_DAYS)} after their last use`),
  kept('oauth_tokens', 'sessions', 'as the grant; codes and access tokens until they expire'),
  kept('public_address', 'owner', 'one row'),
  kept('role_mail', 'roleMail', days(MEMBER_NOTICE_RETENTION_DAYS)),
  kept('domain_report', 'roleMail', days(DOMAIN_REPORT_RETENTION_DAYS)),
  kept(
    'folder',
    'folders',
    `until deleted, or ${days(DELETED_MAILBOX_RETENTION_DAYS)} after their mailbox, then ${days(CHANGE_LOG_RETENTION_DAYS + 1)}`,
  ),
  kept(
    'placement',
    'oldMail',
    'until the message or the folder is deleted, by a client or the retention of its mailbox',
  ),
  kept('placement_state', 'folders', 'as the placement'),
  kept('expunged', 'changeLog', `${days(CHANGE_LOG_RETENTION_DAYS)}, as the change log`),
  kept('change_log', 'changeLog', days(CHANGE_LOG_RETENTION_DAYS)),
  kept('decision_log', 'changeLog', `${days(CHANGE_LOG_RETENTION_DAYS)}, as the change log`),
  kept('preserved_message', 'messages', 'as long as a legal hold keeps its message'),
  kept('unplaced_message', 'messages', 'an hour'),
  kept('message', 'messages', 'an hour after it left the last folder'),
  kept('message_text', 'messages', 'as the message'),
  kept('message_content', 'messages', 'as the message'),
  kept('draft', 'messages', 'as the message'),
  kept('carried_mail', 'messages', 'as the message'),
  kept('carried_mark', 'messages', 'as the message'),
  kept('carried_document', 'messages', 'as the message'),
  kept('carried_due', 'messages', 'until the message has been read in the background, or as the message'),
  kept(
    'attachment_digest',
    'knownRecipients',
    `as the message, and at least ${days(ATTACHMENT_DIGEST_RETENTION_DAYS)}`,
  ),
  kept(
    'mailbox_move',
    'sessions',
    `a finished export ${EXPORT_LIFE_HOURS} hours, otherwise ${days(MOVE_LIFE_HOURS / 24)} from its begin`,
  ),
  kept('mailbox_move_part', 'sessions', 'as the export; of an import until it has finished'),
  kept('mailbox_file', 'sessions', `${FILE_LIFE_HOURS} hours; an unfinished upload ${UPLOAD_MAX_MINUTES} minutes`),
  kept('mailbox_file_chunk', 'sessions', 'as the file'),
  kept('blob_object', 'blobs', `as long as a content is in it, and ${FREE_OBJECT_LIFE_MINUTES} minutes`),
  kept('blob', 'blobs', 'as long as a message, filed or sent, has its content'),
  kept(
    'thread_ref',
    'threadReferences',
    `as long as the thread has messages, and at least ${days(THREAD_REFERENCE_RETENTION_DAYS)}; with the mailbox`,
  ),
  kept('delivery_seen', 'redeliveryKeys', days(REDELIVERY_WINDOW_DAYS)),
  kept(
    'reading_attempt',
    'readingAttempts',
    `${days(READING_ATTEMPT_RETENTION_DAYS)}; deleted at once after the message was read`,
  ),
  kept(
    'outbound_message',
    'sentMail',
    `\`SENT_MAIL_RETENTION_DAYS\` after their end; the content ${days(OUTBOUND_CONTENT_RETENTION_DAYS)}`,
  ),
  kept('outbound_recipient', 'sentMail', 'as the outbound message'),
  kept('outbound_attempt', 'sentMail', 'as the outbound message'),
  kept('consent', 'sentMail', 'as the outbound message'),
  kept('carried_passage', 'sentMail', 'as the outbound message, and no longer than the mail they come from'),
  kept('sending_use', 'rateLimits', days(SENDING_USE_RETENTION_DAYS)),
  kept('organization_change', 'rateLimits', days(ORGANIZATION_CHANGE_RETENTION_DAYS)),
  kept('trace_context', 'rateLimits', days(TRACE_CONTEXT_RETENTION_DAYS)),
  kept('standing_approval', 'knownRecipients', `${days(STANDING_APPROVAL_RETENTION_DAYS)} after its end`),
  kept('decision_rule', 'owner', 'until it is deleted'),
  kept('known_recipient', 'knownRecipients', `${days(KNOWN_RECIPIENT_RETENTION_DAYS)} after their last use`),
  kept(
    'suppression',
    'suppressions',
    `addresses that do not exist: ${days(HARD_BOUNCE_RETENTION_DAYS)}; complaints: until they are deleted`,
  ),
  kept('mail_refusal', 'auditEntries', days(MAIL_REFUSAL_RETENTION_DAYS)),
  kept('operator_use', 'auditEntries', '`AUDIT_RETENTION_DAYS`'),
  kept('erasure', 'owner', 'as proof of what was erased, without content'),
  kept(
    'installation_setting',
    'owner',
    'one row for each setting that all processes must have alike, and one of the last restore',
  ),
  kept('readiness_probe', 'owner', 'one row for each kind of process'),
  kept('migrations', 'owner', 'one row for each migration'),
];
