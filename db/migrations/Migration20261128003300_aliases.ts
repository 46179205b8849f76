import { Migration } from '@mikro-orm/migrations';

/** Further addresses of mailboxes, and a mailbox for the unknown addresses of a domain. */
export class Migration20261128003300_aliases extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table mailboxes add column plus_addresses boolean not null default true;
      alter table domains add column catch_all_mailbox_id text collate "C" references mailboxes on delete set null;
      create index domains_catch_all_mailbox_id on domains (catch_all_mailbox_id);

      create table mailbox_alias (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        -- Lower-cased, the domain in ASCII form; with a tag, if it is the mailbox's own address with one.
        address text not null,
        domain text not null,
        note text not null default '',
        -- Addresses and domains; empty: everybody.
        senders text[] not null default '{}',
        otherwise text not null default 'refuse' check (otherwise in ('refuse', 'hold')),
        lock_to_first boolean not null default false,
        -- Null: INBOX.
        folder_id bigint references folder on delete set null,
        enabled boolean not null default true,
        by_token boolean not null,
        created_by text,
        expires_at timestamptz,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        -- Dropped: the address is refused from then on.
        deleted_at timestamptz
      );
      create unique index mailbox_alias_address on mailbox_alias (address) where deleted_at is null;
      create index mailbox_alias_any_address on mailbox_alias (address);
      create index mailbox_alias_mailbox on mailbox_alias (mailbox_id, id);
      create index mailbox_alias_organization on mailbox_alias (organization_id, domain);
      create index mailbox_alias_folder_id on mailbox_alias (folder_id);
    `);
  }
}
