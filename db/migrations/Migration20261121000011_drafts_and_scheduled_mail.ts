import { Migration } from '@mikro-orm/migrations';

/**
 * Drafts with an id that outlives their saves, mail that waits for its time, what a sent message answers, and the order
 * in which messages came into a mailbox.
 */
export class Migration20261121000011_drafts_and_scheduled_mail extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table outbound_message
        -- Not before this time.
        add column send_at timestamptz,
        -- Message of the mailbox that this one answers or forwards; marked so when this one goes.
        add column answers_message_id text collate "C",
        add column answers_as text check (answers_as in ('answered', 'forwarded')),
        drop constraint outbound_message_state_check,
        add constraint outbound_message_state_check
          check (state in ('held', 'scheduled', 'sending', 'done', 'denied')),
        add check ((answers_message_id is null) = (answers_as is null));
      drop index outbound_message_due;
      create index outbound_message_due on outbound_message (due_at) where state in ('held', 'scheduled', 'sending');

      -- Each save is a new message; the row says which one the draft is now.
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

      -- change_seq at which it came into the mailbox: commit order, which ids are not.
      alter table message add column arrived_seq bigint not null default 0;
      create index message_arrived_seq on message (mailbox_id, arrived_seq);
    `);
  }
}
