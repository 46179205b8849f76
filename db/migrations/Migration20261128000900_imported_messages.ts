import { Migration } from '@mikro-orm/migrations';

/** What was imported into a mailbox, so that an import that runs again brings nothing a second time. */
export class Migration20261128000900_imported_messages extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table imported_message (
        mailbox_id text collate "C" not null references mailboxes,
        -- Of content, folder and date; or of a UID of the IMAP server that it came from.
        digest bytea not null,
        imported_at timestamptz not null default now(),
        primary key (mailbox_id, digest)
      );
    `);
  }
}
