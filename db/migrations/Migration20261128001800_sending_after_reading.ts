import { Migration } from '@mikro-orm/migrations';

/** Whose mail was read with a token, and settings of a mailbox about what may leave it. */
export class Migration20261128001800_sending_after_reading extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- Null: as the organization.
      alter table mailboxes add column carried_mail text check (carried_mail in ('off', 'hold', 'refuse'));
      alter table mailboxes add column ask_after_reading_minutes smallint
        check (ask_after_reading_minutes between 0 and 1440);

      -- One row for each sender whose mail was read, not for each reading.
      create table sender_read (
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        -- Id of the API key; empty: a token of the mailbox.
        reader text collate "C" not null,
        -- Lower-cased, the domain in ASCII form; empty: none, several, or too long a one.
        author text not null,
        -- Whether all that was read is proven to be the author's; others have a row of their own.
        proven boolean not null,
        thread_id text collate "C" not null,
        read_at timestamptz not null,
        primary key (mailbox_id, reader, author, proven, thread_id)
      );
      create index sender_read_reader on sender_read (reader, read_at) where reader <> '';
      create index sender_read_read_at on sender_read (read_at);

      -- What a person is shown about the reason: HeldDetails of domain/sending/consent.ts.
      alter table consent add column held_details jsonb;
    `);
  }
}
