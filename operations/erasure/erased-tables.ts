/**
 * What each erasure does to each table. Every table is listed: a test compares the list with the schema, and searches
 * all of it after erasures.
 */

/** `erased`: rows are deleted. `cleared`: rows stay, without what was in them. Others: why they are not touched. */
type Effect = 'erased' | 'cleared' | { readonly kept: string };

interface ErasedTable {
  readonly mailbox: Effect;
  readonly organization: Effect;
  /** Of a correspondent: a person outside, by the address. */
  readonly correspondent: Effect;
}

const kept = (why: string): Effect => ({ kept: why });

const INSTALLATION = kept('of the installation');
const ORGANIZATION = kept('of the organization');
const ACCOUNTS = kept('people with an account, and their credentials: not a correspondent');
const CONFIGURED = kept('made by the organization for itself');
const IDS = kept('ids and numbers');
const HASHES = kept('hashes');
const COUNTS = kept('counts of mail by host, without addresses of people');
/** With the row that they belong to, of every kind. */
const ALL: ErasedTable = { mailbox: 'erased', organization: 'erased', correspondent: 'erased' };
const none = (why: Effect): ErasedTable => ({ mailbox: why, organization: why, correspondent: why });
const ofMailbox = (correspondent: Effect): ErasedTable => ({
  mailbox: 'erased',
  organization: 'erased',
  correspondent,
});
const ofOrganization = (correspondent: Effect): ErasedTable => ({
  mailbox: ORGANIZATION,
  organization: 'erased',
  correspondent,
});

export const ERASED_TABLES: Readonly<Record<string, ErasedTable>> = {
  organizations: ofOrganization(CONFIGURED),
  users: {
    mailbox: ORGANIZATION,
    // Accounts of people who are members elsewhere stay.
    organization: 'erased',
    correspondent: ACCOUNTS,
  },
  members: ofOrganization(ACCOUNTS),
  sign_in_sources: ofOrganization(ACCOUNTS),
  invitations: ofOrganization(ACCOUNTS),
  sessions: ofOrganization(ACCOUNTS),
  password_resets: ofOrganization(ACCOUNTS),
  device_sign_ins: ofOrganization(ACCOUNTS),
  sign_in_challenges: ofOrganization(ACCOUNTS),
  passkey_ceremonies: ofOrganization(ACCOUNTS),
  oidc_sign_ins: ofOrganization(ACCOUNTS),
  oidc_identities: ofOrganization(ACCOUNTS),
  passkeys: ofOrganization(ACCOUNTS),
  totp_factor: ofOrganization(ACCOUNTS),
  recovery_code: ofOrganization(ACCOUNTS),
  oauth_requests: ofOrganization(ACCOUNTS),
  oauth_clients: none(kept('programs that registered themselves; no person')),
  oauth_grants: ofMailbox(ACCOUNTS),
  oauth_tokens: ofMailbox(ACCOUNTS),
  api_keys: ofOrganization(CONFIGURED),
  audit_entries: { mailbox: 'cleared', organization: 'erased', correspondent: 'cleared' },
  idempotency_keys: ALL,
  rate_limits: {
    mailbox: kept('counters by id, for an hour at most'),
    organization: 'erased',
    correspondent: kept('counters, for an hour at most'),
  },
  domains: ofOrganization(CONFIGURED),
  dkim_key: none(INSTALLATION),
  dkim_rotation: ofOrganization(CONFIGURED),
  acme_account: none(INSTALLATION),
  acme_certificate: none(INSTALLATION),
  acme_challenge: none(INSTALLATION),
  mailboxes: ofMailbox(CONFIGURED),
  // While one applies, nothing is erased.
  legal_hold: ofMailbox(CONFIGURED),
  mailbox_counter: ofMailbox(IDS),
  mailbox_sending: ofMailbox(IDS),
  mailbox_login: ofMailbox(IDS),
  mailbox_token: ofMailbox(CONFIGURED),
  mailbox_canary: ofMailbox(CONFIGURED),
  mailbox_alias: ofMailbox(CONFIGURED),
  subscription: ofMailbox(CONFIGURED),
  mail_keyword: ofMailbox(CONFIGURED),
  sender_list: ALL,
  held_arrival: ALL,
  released_thread: ALL,
  sender_read: ALL,
  imported_message: ofMailbox(HASHES),
  webhook_endpoints: ofMailbox(CONFIGURED),
  webhook_signing_key: ofOrganization(CONFIGURED),
  webhook_receiver: ofOrganization(CONFIGURED),
  received_request: ALL,
  events: ALL,
  deliveries: ALL,
  delivery_attempts: ALL,
  delivery_allowances: ofOrganization(IDS),
  delivery_lanes: none(INSTALLATION),
  sweeps: none(INSTALLATION),
  recoveries: ofMailbox(IDS),
  member_notices: ALL,
  member_notice_settings: ofOrganization(ACCOUNTS),
  member_desk_notice: ofOrganization(ACCOUNTS),
  approval_notices: ALL,
  approval_notice_items: ALL,
  approval_links: ALL,
  public_address: none(INSTALLATION),
  role_mail: ofOrganization('erased'),
  domain_report: ofOrganization(COUNTS),
  folder: ofMailbox(CONFIGURED),
  placement: ALL,
  placement_state: ALL,
  expunged: ofMailbox(IDS),
  change_log: ofMailbox(IDS),
  // The log of a mailbox has no gaps: what came before is forgotten with it.
  decision_log: ALL,
  unplaced_message: ALL,
  preserved_message: ALL,
  message: ALL,
  message_text: ALL,
  message_content: ALL,
  draft: ALL,
  carried_mail: ALL,
  carried_mark: ALL,
  carried_due: ALL,
  carried_document: ALL,
  attachment_digest: ALL,
  // An export may have mail of anybody: it goes with the first of its people.
  mailbox_move: ALL,
  mailbox_move_part: ALL,
  mailbox_file: ofMailbox(CONFIGURED),
  mailbox_file_chunk: ofMailbox(CONFIGURED),
  // Contents that other mailboxes have too stay theirs.
  blob: ALL,
  // With its object, at the end of the erasure.
  blob_object: ALL,
  thread_ref: ofMailbox(HASHES),
  delivery_seen: ofMailbox(HASHES),
  reading_attempt: none(HASHES),
  outbound_message: ALL,
  outbound_recipient: ALL,
  outbound_attempt: ALL,
  consent: ALL,
  carried_passage: ALL,
  standing_approval: ALL,
  decision_rule: { mailbox: ORGANIZATION, organization: 'erased', correspondent: 'cleared' },
  sending_use: ofMailbox(IDS),
  organization_change: {
    mailbox: kept('ids, for a day: open pages see by them that something is gone'),
    organization: 'erased',
    correspondent: IDS,
  },
  known_recipient: {
    // Only what is known within its threads; approvals of an address are the organization's.
    mailbox: 'erased',
    organization: 'erased',
    correspondent: 'erased',
  },
  // That nothing may be sent to the address stays, as a hash of it.
  suppression: ofOrganization('cleared'),
  mail_refusal: ALL,
  trace_context: none(kept('ids of events, messages and traces, for days')),
  operator_use: none(kept('what operators did, by ids')),
  erasure: none(kept('proof of what was erased, without content')),
  installation_setting: none(INSTALLATION),
  readiness_probe: none(INSTALLATION),
  migrations: none(INSTALLATION),
};
