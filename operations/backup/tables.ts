/**
 * Which tables a backup contains. Every table is listed in one of the two lists: a test compares them with the schema. A
 * table that neither knows, as of a later version, is backed up.
 */

/** The table whose bytes are files of their own, so that increments contain new ones only. */
export const BLOB_TABLE = 'blob';
export const BLOB_BYTES_COLUMN = 'bytes';
/** Where the bytes are outside the rows; a backup has them in its files like all others. */
export const BLOB_OBJECT_COLUMN = 'object';

export const BACKED_UP_TABLES: readonly string[] = [
  ...['organizations', 'users', 'members', 'sign_in_sources', 'invitations', 'sessions', 'api_keys', 'audit_entries'],
  ...['idempotency_keys', 'domains', 'dkim_key', 'dkim_rotation', 'acme_account', 'acme_certificate'],
  ...['mailboxes', 'legal_hold', 'mailbox_counter', 'mailbox_sending', 'mailbox_login', 'mailbox_token'],
  ...['mailbox_canary', 'mailbox_alias'],
  ...['subscription', 'mail_keyword', 'sender_list', 'held_arrival', 'released_thread', 'imported_message'],
  ...['webhook_endpoints', 'webhook_signing_key', 'webhook_receiver', 'received_request'],
  ...['events', 'deliveries', 'delivery_attempts', 'delivery_allowances', 'recoveries'],
  ...['member_notices', 'member_notice_settings', 'approval_notices', 'approval_notice_items', 'approval_links'],
  'member_desk_notice',
  ...['totp_factor', 'recovery_code', 'sign_in_challenges', 'passkeys', 'passkey_ceremonies'],
  ...['oidc_identities', 'oidc_sign_ins'],
  ...['password_resets', 'device_sign_ins', 'oauth_requests', 'oauth_clients', 'oauth_grants', 'oauth_tokens'],
  ...['public_address', 'role_mail', 'domain_report'],
  ...['folder', 'placement', 'placement_state', 'expunged', 'change_log', 'decision_log'],
  ...[
    'message',
    'message_text',
    'message_content',
    'unplaced_message',
    'preserved_message',
    'draft',
    'attachment_digest',
  ],
  ...['carried_mail', 'carried_mark', 'carried_due', 'carried_document'],
  ...['mailbox_file', 'mailbox_file_chunk', BLOB_TABLE, 'thread_ref', 'delivery_seen'],
  ...['outbound_message', 'outbound_recipient', 'outbound_attempt', 'consent', 'carried_passage'],
  ...['sending_use', 'known_recipient', 'standing_approval', 'decision_rule', 'suppression', 'mail_refusal', 'erasure'],
  ...['installation_setting', 'operator_use'],
];

/** Tables whose rows are left out, each with the reason. A restore leaves them as the migrations make them. */
export const LEFT_OUT_TABLES: Readonly<Record<string, string>> = {
  blob_object: 'objects of this installation: a backup has their contents, and a restore puts these into the rows',
  migrations: 'the manifest names the migrations; the restore applies them',
  rate_limits: 'counters of the last minutes, which also begin at zero after a crash of PostgreSQL',
  reading_attempt: 'says which content a process reads at the moment',
  delivery_lanes: 'signs of life of running workers; without them their leases end, and deliveries are taken again',
  acme_challenge: 'answers for open orders of certificates, for minutes',
  sender_read: 'whose mail was read lately; it matters for minutes',
  sweeps: 'where the periodic searches are; they begin anew',
  readiness_probe: 'written by each running process every few seconds',
  trace_context: 'ids of traces, kept for days where tracing is on; without one a later span begins a trace of its own',
  mailbox_move: 'exports and imports by HTTP, kept for days at most; after a restore they are asked for again',
  mailbox_move_part: 'files of these exports and imports',
  organization_change:
    'names of changes for open pages, kept for a day and ordered by transaction ids of one PostgreSQL server',
};
