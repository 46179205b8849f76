import { Migration } from '@mikro-orm/migrations';

/** What changing mail by IMAP, POP3 and REST needs beyond deliveries: keywords, search over headers, clean-up. */
export class Migration20261121000004_mail_folders extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- Keywords a mailbox has used, under their lower-cased form: the first spelling is the one everybody sees.
      create table mail_keyword (
        mailbox_id text collate "C" not null references mailboxes,
        key text collate "C" not null,
        keyword text not null,
        primary key (mailbox_id, key)
      );

      -- Messages that lost a placement, to be purged where it was the last: not at once, they may be on their way out.
      create table unplaced_message (
        message_id text collate "C" primary key,
        since timestamptz not null default now()
      );

      create index folder_deleted_at on folder (deleted_at) where deleted_at is not null;

      -- body and header are lower-cased, one header field per line, so that a substring is found without folding again.
      -- Rows made before lack the header; what has no row is searched in its bytes.
      truncate message_text;
      alter table message_text add column header text not null;
      -- By which pruning finds old rows.
      create index change_log_created_at on change_log using brin (created_at) with (pages_per_range = 32);
    `);
  }
}
