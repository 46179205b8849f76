import { Migration } from '@mikro-orm/migrations';

/** Approvals given in advance, which end: one mailbox to some recipients, until a time, for a number of messages. */
export class Migration20261128001120_standing_approvals extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table standing_approval (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        -- Addresses and domains, in lower case.
        recipients text[] not null check (cardinality(recipients) > 0),
        ends_at timestamptz not null,
        messages_max int not null check (messages_max > 0),
        messages_used int not null default 0 check (messages_used between 0 and messages_max),
        created_by jsonb not null,
        created_at timestamptz not null,
        revoked_by jsonb,
        revoked_at timestamptz,
        check ((revoked_at is null) = (revoked_by is null))
      );
      create index standing_approval_organization on standing_approval (organization_id, id);
      create index standing_approval_mailbox on standing_approval (mailbox_id, ends_at);
      create index standing_approval_ends_at on standing_approval (ends_at);

      -- By which a message was sent without a request.
      alter table outbound_message
        add column standing_approval_id text collate "C" references standing_approval on delete set null;
      create index outbound_message_standing_approval on outbound_message (standing_approval_id)
        where standing_approval_id is not null;
    `);
  }
}
