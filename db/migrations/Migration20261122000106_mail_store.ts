import { Migration } from '@mikro-orm/migrations';

/**
 * The mail store: immutable messages over shared blobs, folders whose row lock gives UIDs, counters, change log.
 *
 * Every write goes through `mailstore`, which takes its locks in one order (delivery_seen, folder ascending,
 * mailbox_counter ascending) and keeps the counters. There are foreign keys only where rows are written rarely or where
 * a race needs them (a blob must not be swept while a message is being filed): for the other tables
 * `npm run check:mailstore` checks the same.
 */
export class Migration20261122000106_mail_store extends Migration {
  override up(): void {
    this.addSql(MESSAGES);
    this.addSql(FOLDERS);
    this.addSql(TEXTS);
  }
}

const MESSAGES = /* sql */ `
  create table blob (
    sha256 bytea primary key check (length(sha256) = 32),
    size integer not null,
    bytes bytea not null,
    created_at timestamptz not null default now()
  );
  -- Uncompressed, so that substring() reads only the slices it needs.
  alter table blob alter column bytes set storage external;

  create table message (
    id text collate "C" primary key,
    mailbox_id text collate "C" not null,
    blob bytea not null references blob on delete restrict,
    thread_id text collate "C" not null,
    origin text not null check (origin in ('smtp', 'local', 'submission', 'append', 'draft', 'system')),
    received_at timestamptz not null,
    sent_at timestamptz,
    -- Zone of the Date header: IMAP searches by the day written there (RFC 9051 §6.4.4, SENTON).
    sent_offset_minutes smallint not null default 0,
    -- change_seq at which it came into the mailbox: commit order, which ids are not.
    arrived_seq bigint not null default 0,
    size integer not null,
    envelope_from text,
    delivered_to text,
    message_id_header text,
    from_addresses jsonb not null,
    to_addresses jsonb not null,
    cc_addresses jsonb not null,
    subject text not null,
    preview text not null,
    envelope bytea not null,
    bodystructure bytea not null,
    parts jsonb not null,
    attachments jsonb not null,
    auth jsonb,
    -- ok, cut or failed; or 'due': the current reader has not read header, structure and text yet.
    text_status text not null default 'due'
  );
  create index message_mailbox_id on message (mailbox_id, id);
  create index message_thread_id on message (mailbox_id, thread_id);
  create index message_blob on message (blob);
  create index message_arrived_seq on message (mailbox_id, arrived_seq);
  create index message_text_due on message (id) where text_status = 'due';

  -- Each save of a draft is a new message; the row says which one the draft is now.
  create table draft (
    id text collate "C" primary key,
    mailbox_id text collate "C" not null references mailboxes on delete cascade,
    message_id text collate "C" not null unique references message on delete cascade,
    client_id text,
    -- When it is to be sent, once it is submitted.
    send_at timestamptz,
    created_at timestamptz not null
  );
  create unique index draft_client_id on draft (mailbox_id, client_id) where client_id is not null;

  -- A reference is a Message-ID, or a base subject with its correspondent; the latter counts while seen_at is recent.
  create table thread_ref (
    mailbox_id text collate "C" not null,
    ref_hash bytea not null,
    thread_id text collate "C" not null,
    seen_at timestamptz not null default now(),
    primary key (mailbox_id, ref_hash)
  );
  create index thread_ref_seen_at on thread_ref using brin (seen_at) with (pages_per_range = 32);

  create table delivery_seen (
    mailbox_id text collate "C" not null,
    delivery_hash bytea not null,
    message_id text collate "C" not null,
    seen_at timestamptz not null default now(),
    primary key (mailbox_id, delivery_hash)
  );
  create index delivery_seen_seen_at on delivery_seen using brin (seen_at) with (pages_per_range = 32);

  -- Messages that lost a placement, to be purged where it was the last: not at once, they may be on their way out.
  create table unplaced_message (
    message_id text collate "C" primary key,
    since timestamptz not null default now()
  );`;

const FOLDERS = /* sql */ `
  create table folder (
    id bigint generated always as identity primary key,
    mailbox_id text collate "C" not null references mailboxes,
    name text not null,
    name_key text collate "C" not null,
    special_use text check (special_use in ('\\Inbox', '\\Sent', '\\Drafts', '\\Archive', '\\Junk', '\\Trash')),
    uid_validity bigint not null check (uid_validity between 1 and 4294967295),
    uid_next bigint not null default 1,
    modseq bigint not null default 1,
    total bigint not null default 0,
    unseen bigint not null default 0,
    deleted bigint not null default 0,
    bytes bigint not null default 0,
    recent_from bigint not null default 1,
    pruned_modseq bigint not null default 0,
    created_at timestamptz not null default now(),
    deleted_at timestamptz
  ) with (fillfactor = 50);
  create unique index folder_name_key on folder (mailbox_id, name_key) where deleted_at is null;
  create index folder_deleted_at on folder (deleted_at) where deleted_at is not null;

  create table mailbox_counter (
    mailbox_id text collate "C" primary key references mailboxes,
    bytes_used bigint not null default 0 check (bytes_used >= 0),
    quota_bytes bigint not null,
    messages bigint not null default 0 check (messages >= 0),
    change_seq bigint not null default 0,
    uid_validity_next bigint not null
  ) with (fillfactor = 50);

  create table placement (
    folder_id bigint not null,
    uid bigint not null check (uid between 1 and 4294967295),
    message_id text collate "C" not null references message on delete restrict,
    internal_date timestamptz not null,
    -- Zone that the client gave, in minutes east of UTC: IMAP shows it again, and searches by the day in that zone.
    internal_offset_minutes smallint not null default 0,
    save_date timestamptz not null,
    size integer not null,
    primary key (folder_id, uid)
  );
  create index placement_message_id on placement (message_id);

  -- No other index, ever: every update of flags, keywords and modseq must stay HOT.
  create table placement_state (
    folder_id bigint not null,
    uid bigint not null,
    flags integer not null,
    keywords text[] not null,
    modseq bigint not null,
    primary key (folder_id, uid)
  ) with (fillfactor = 80);

  create table expunged (
    folder_id bigint not null,
    uid bigint not null,
    modseq bigint not null,
    message_id text collate "C" not null,
    primary key (folder_id, uid)
  );
  create index expunged_modseq on expunged (folder_id, modseq);

  create table change_log (
    mailbox_id text collate "C" not null,
    seq bigint not null,
    folder_id bigint not null,
    modseq bigint not null,
    kind text not null check (kind in ('added', 'flags', 'expunged')),
    uids int8multirange not null,
    created_at timestamptz not null default now(),
    primary key (mailbox_id, seq)
  );
  create index change_log_modseq on change_log (folder_id, modseq);
  create index change_log_created_at on change_log using brin (created_at) with (pages_per_range = 32);

  -- The six folders of creation are subscribed without a row; a row says otherwise, or names any other.
  create table subscription (
    mailbox_id text collate "C" not null references mailboxes,
    name_key text collate "C" not null,
    name text not null,
    subscribed boolean not null default true,
    primary key (mailbox_id, name_key)
  );

  -- Keywords a mailbox has used, under their lower-cased form: the first spelling is the one everybody sees.
  create table mail_keyword (
    mailbox_id text collate "C" not null references mailboxes,
    key text collate "C" not null,
    keyword text not null,
    primary key (mailbox_id, key)
  );`;

const TEXTS = /* sql */ `
  -- The readable content of a message, computed once, when it is stored.
  create table message_content (
    message_id text collate "C" primary key references message on delete cascade,
    body text not null,
    -- reply (null: as the body), codes, links
    extracts jsonb not null
  );

  -- Body, header, envelope and part headers are lower-cased, one header field per line, so that a substring is found
  -- without folding again. A message without row is searched in its bytes.
  create table message_text (
    message_id text collate "C" primary key references message on delete cascade,
    body text not null,
    header text not null,
    envelope text not null default '',
    part_headers text not null default '',
    cut boolean not null,
    words tsvector not null,
    -- The text must be made again from the bytes.
    fill_again boolean not null default false
  ) with (toast_tuple_target = 8160);
  -- Texts of usual mail stay in their rows: measured 65 ms for a search through 49 MB in 10,000 messages, against
  -- 440 ms when they are fetched from the TOAST table. The words, which are read from their index only, are moved there
  -- first.
  alter table message_text alter column body set storage main, alter column header set storage main,
    alter column envelope set storage main, alter column part_headers set storage main,
    alter column words set storage external;
  create index message_text_words on message_text using gin (words) with (fastupdate = off);
  create index message_text_fill_again on message_text (message_id) where fill_again;

  -- A row that stays says that a process crashed while it read this content. Not logged: it is needed after the end of a
  -- process, not of the database.
  create unlogged table reading_attempt (
    content bytea primary key,
    started_at timestamptz not null default now()
  );`;
