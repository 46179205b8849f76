import { Migration } from '@mikro-orm/migrations';

/**
 * Sending: what was submitted, its recipients and attempts; whom an organization does not write to; budgets and health
 * of mailboxes.
 *
 * A submitted message has its id from the start. While it is held there is no row in `message` and no placement, so no
 * protocol shows it; the foreign key keeps its bytes.
 */
export class Migration20261122000107_sending extends Migration {
  override up(): void {
    this.addSql(MESSAGES);
    this.addSql(LISTS_AND_LIMITS);
  }
}

const MESSAGES = /* sql */ `
  create table outbound_message (
    id text collate "C" primary key,
    organization_id text collate "C" not null references organizations on delete cascade,
    mailbox_id text collate "C" not null references mailboxes on delete cascade,
    -- Null once the content of a finished message was deleted; its rows stay.
    blob bytea references blob on delete restrict,
    size integer not null,
    -- SHA-256 over the raw bytes and the sorted recipients: what a consent is given for.
    content_hash bytea not null,
    message_id_header text not null,
    thread_id text,
    from_address text not null,
    to_addresses jsonb not null,
    cc_addresses jsonb not null,
    subject text not null,
    preview text not null,
    labels text[] not null,
    via text not null check (via in ('api', 'smtp')),
    actor jsonb not null,
    client_id text,
    -- The copy in Sent was there before the submission.
    filed boolean not null default false,
    -- The draft it was made from, to bring it back: {id, clientId, sendAt, createdAt}.
    draft jsonb,
    -- Message of the mailbox that this one answers or forwards; marked so when this one is sent.
    answers_message_id text collate "C",
    answers_as text check (answers_as in ('answered', 'forwarded')),
    consent_id text,
    -- A person changed it before approving: a copy that a client filed is another message.
    edited boolean not null default false,
    state text not null check (state in ('held', 'scheduled', 'sending', 'done', 'denied')),
    dkim_signature text,
    -- Notices that the submitter requested (RFC 3461). Null: the default.
    envelope_id text,
    returned text check (returned in ('FULL', 'HDRS')),
    first_sent_at timestamptz,
    submitted_at timestamptz not null,
    -- Not before this time.
    send_at timestamptz,
    give_up_at timestamptz,
    -- When the sender was notified that the message still waits.
    delay_told_at timestamptz,
    -- By when the workflow should have done something; the sweep starts it again after that.
    due_at timestamptz not null,
    -- Since when it waits for somebody to end a stop; stays until the workflow has seen that the stop is over.
    stopped_at timestamptz,
    finished_at timestamptz,
    check ((answers_message_id is null) = (answers_as is null))
  );
  create index outbound_message_due on outbound_message (due_at) where state in ('held', 'scheduled', 'sending');
  create index outbound_message_mailbox on outbound_message (mailbox_id, id);
  create index outbound_message_blob on outbound_message (blob);
  create unique index outbound_message_client_id on outbound_message (mailbox_id, client_id)
    where client_id is not null;
  -- Room that waiting messages of a mailbox need together.
  create index outbound_message_waiting on outbound_message (mailbox_id) where state in ('held', 'scheduled');
  create index outbound_message_sending on outbound_message (mailbox_id) where state = 'sending';
  create index outbound_message_stopped on outbound_message (organization_id, mailbox_id) where stopped_at is not null;
  create index outbound_message_finished on outbound_message (mailbox_id, finished_at) where finished_at is not null;
  -- For retention: of contents, and of rows.
  create index outbound_message_content on outbound_message (finished_at)
    where blob is not null and finished_at is not null;
  create index outbound_message_finished_at on outbound_message (finished_at) where finished_at is not null;

  create table outbound_recipient (
    message_id text collate "C" not null references outbound_message on delete cascade,
    number smallint not null,
    -- The same as that of the message, for the history of a recipient within one organization.
    organization_id text collate "C",
    address text not null,
    local boolean not null,
    status text not null
      check (status in ('queued', 'sending', 'sent', 'captured', 'bounced', 'suppressed', 'denied')),
    -- Answer of the other server, or why there was none.
    reply text,
    -- Enhanced status code (RFC 3463).
    code text,
    next_attempt_at timestamptz,
    updated_at timestamptz not null default now(),
    -- Notices that the submitter requested (RFC 3461). Null: the default.
    notify text[] check (notify <@ array['NEVER', 'SUCCESS', 'FAILURE', 'DELAY'] and notify <> '{}'),
    original_recipient text,
    -- When the sender was notified of a success that the other server reported.
    success_told_at timestamptz,
    -- The failure was reported to a return path that several recipients shared: each could have written the report.
    report_shared boolean not null default false,
    -- When the recipient reported the message as abuse.
    complained_at timestamptz,
    primary key (message_id, number)
  );
  create index outbound_recipient_complained on outbound_recipient (complained_at) where complained_at is not null;
  create index outbound_recipient_address on outbound_recipient (organization_id, lower(address), message_id);
  create index outbound_recipient_domain
    on outbound_recipient (organization_id, lower(split_part(address, '@', -1)), message_id);

  create table outbound_attempt (
    message_id text collate "C" not null references outbound_message on delete cascade,
    destination text not null,
    number smallint not null,
    recipients text[] not null,
    transport text not null,
    started_at timestamptz not null,
    finished_at timestamptz,
    outcome text check (outcome in ('sent', 'captured', 'partial', 'deferred', 'failed')),
    reply text,
    -- The transaction that reserved the attempt: repeated, it reserves nothing further.
    reservation uuid,
    primary key (message_id, destination, number)
  );`;

const LISTS_AND_LIMITS = /* sql */ `
  create table suppression (
    id text collate "C" not null unique,
    organization_id text collate "C" not null references organizations on delete cascade,
    address text not null,
    reason text not null check (reason in ('hard_bounce', 'complaint')),
    message_id text,
    created_at timestamptz not null default now(),
    primary key (organization_id, address)
  );
  create index suppression_page on suppression (organization_id, id);
  create index suppression_created_at on suppression (created_at) where reason = 'hard_bounce';

  create table sender_list (
    id text collate "C" primary key,
    organization_id text collate "C" not null references organizations on delete cascade,
    -- Null: for all mailboxes of the organization.
    mailbox_id text collate "C" references mailboxes on delete cascade,
    direction text not null check (direction in ('inbound', 'outbound')),
    action text not null check (action in ('allow', 'block')),
    -- An address, or a domain.
    value text not null check (value = lower(value)),
    created_at timestamptz not null default now(),
    unique nulls not distinct (organization_id, mailbox_id, direction, value)
  );
  create index sender_list_page on sender_list (organization_id, direction, action, id);

  -- Mailboxes too many of whose recipients bounced or complained. No row: all is well.
  create table mailbox_sending (
    mailbox_id text collate "C" primary key references mailboxes on delete cascade,
    state text not null check (state in ('ok', 'flagged', 'paused')),
    reason text,
    reviewed_at timestamptz not null,
    -- Somebody resumed it then: what was before is not counted any more.
    counted_from timestamptz,
    check ((state = 'ok') = (reason is null))
  );

  -- Messages and new recipients of a mailbox or an organization on one day (UTC), without those still held.
  create table sending_use (
    scope_id text collate "C" not null,
    day date not null,
    messages integer not null default 0,
    new_recipients integer not null default 0,
    primary key (scope_id, day)
  );
  create index sending_use_day on sending_use (day);`;
