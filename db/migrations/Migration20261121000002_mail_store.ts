import { Migration } from '@mikro-orm/migrations';

/**
 * The mail store: immutable messages over shared blobs, folders whose row lock gives UIDs, counters, change log.
 *
 * Every write goes through `mail/store`, which takes its locks in one order (delivery_seen, folder ascending,
 * mailbox_counter ascending) and keeps the counters; there are no triggers. Foreign keys stand only where rows are
 * written seldom or where a race needs them (a blob must not be swept while a message is being filed): on the hot
 * tables `npm run check:mailstore` proves what they would.
 */
export class Migration20261121000002_mail_store extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table mailboxes add column unauthenticated_mail text not null default 'junk'
        check (unauthenticated_mail in ('junk', 'inbox', 'reject'));

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
        auth jsonb
      );
      create index message_mailbox_id on message (mailbox_id, id);
      create index message_thread_id on message (mailbox_id, thread_id);
      create index message_blob on message (blob);

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

      -- A reference is a Message-ID, or a base subject with its correspondent; the latter counts while seen_at is recent.
      create table thread_ref (
        mailbox_id text collate "C" not null,
        ref_hash bytea not null,
        thread_id text collate "C" not null,
        seen_at timestamptz not null default now(),
        primary key (mailbox_id, ref_hash)
      );

      create table delivery_seen (
        mailbox_id text collate "C" not null,
        delivery_hash bytea not null,
        message_id text collate "C" not null,
        seen_at timestamptz not null default now(),
        primary key (mailbox_id, delivery_hash)
      );
      create index delivery_seen_seen_at on delivery_seen using brin (seen_at) with (pages_per_range = 32);

      create table message_text (
        message_id text collate "C" primary key references message on delete cascade,
        body text not null,
        cut boolean not null,
        words tsvector not null
      );
      create index message_text_words on message_text using gin (words) with (fastupdate = off);

      -- The six folders of creation are subscribed without a row; a row says otherwise, or names any other.
      create table subscription (
        mailbox_id text collate "C" not null references mailboxes,
        name_key text collate "C" not null,
        name text not null,
        subscribed boolean not null default true,
        primary key (mailbox_id, name_key)
      );
    `);
  }
}
