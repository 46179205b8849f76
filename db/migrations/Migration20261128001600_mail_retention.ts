import { Migration } from '@mikro-orm/migrations';

/** Retention and expiry of mailboxes, and legal holds, under which content is kept in spite of deletions. */
export class Migration20261128001600_mail_retention extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table mailboxes
        -- From then on it is refused on every protocol.
        add column expires_at timestamptz,
        -- Null: as the organization (its settings).
        add column retention jsonb;
      create index mailboxes_expires_at on mailboxes (expires_at) where expires_at is not null and deleted_at is null;

      create table legal_hold (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        -- Null: all mailboxes of the organization, those of later too.
        mailbox_id text collate "C" references mailboxes on delete cascade,
        reason text not null,
        created_by jsonb not null,
        created_at timestamptz not null
      );
      create index legal_hold_organization_id on legal_hold (organization_id, id);
      create index legal_hold_mailbox_id on legal_hold (mailbox_id) where mailbox_id is not null;

      -- Messages that are in no folder any more and are kept by a hold.
      create table preserved_message (
        message_id text collate "C" primary key references message on delete cascade,
        mailbox_id text collate "C" not null,
        since timestamptz not null
      );
      create index preserved_message_mailbox_id on preserved_message (mailbox_id, message_id);

      -- Of mail that was blocked while a hold applies, the bytes are kept.
      alter table held_arrival drop constraint held_arrival_check;
      alter table held_arrival add constraint held_arrival_check check (state <> 'held' or bytes is not null) not valid;
    `);
  }
}
