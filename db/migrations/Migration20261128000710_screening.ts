import { Migration } from '@mikro-orm/migrations';

/** Mail that waits outside its mailbox until a member has decided about it. */
export class Migration20261128000710_screening extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- Null: as the organization.
      alter table mailboxes add column screening text check (screening in ('off', 'suspicious', 'first_senders'));

      create table held_arrival (
        -- That of the message when it is released.
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        state text not null default 'held' check (state in ('held', 'released', 'blocked', 'spam')),
        reasons text[] not null,
        -- Lower-cased, the domain in ASCII form; empty: there is none, or there are several.
        author text not null,
        proven boolean not null,
        from_addresses jsonb not null,
        envelope_from text not null,
        delivered_to text not null,
        -- Where it came from: a network, or a mailbox here.
        source text not null,
        -- Of mail from a mailbox here: who the event names.
        actor jsonb,
        subject text not null,
        preview text not null,
        signals jsonb not null,
        auth jsonb,
        labels text[] not null,
        to_junk boolean not null,
        delivery_hash bytea,
        size int not null,
        -- Null: it was decided.
        bytes bytea,
        received_at timestamptz not null,
        decided_at timestamptz,
        check ((state = 'held') = (bytes is not null)),
        check ((state = 'held') = (decided_at is null))
      );
      -- Mail is compressed badly, and read whole.
      alter table held_arrival alter column bytes set storage external;
      create index held_arrival_organization on held_arrival (organization_id, id);
      create index held_arrival_waiting on held_arrival (mailbox_id, author) where state = 'held';
      create index held_arrival_mailbox on held_arrival (mailbox_id);
      create index held_arrival_received_at on held_arrival (received_at);
      create unique index held_arrival_delivery on held_arrival (mailbox_id, delivery_hash);

      create table released_thread (
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        thread_id text collate "C" not null,
        author text not null,
        proven boolean not null,
        released_at timestamptz not null,
        primary key (mailbox_id, author, thread_id)
      );
      create index released_thread_released_at on released_thread (released_at);
    `);
  }
}
