import { Migration } from '@mikro-orm/migrations';

/** Domains with their DKIM keys, mailboxes with their settings, and mail to the addresses of roles. */
export class Migration20261122000103_mailboxes_and_domains extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table domains (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        name text not null check (name = lower(name)),
        status text not null default 'pending' check (status in ('pending', 'verified', 'failed')),
        verification_token text not null,
        dkim_selector text not null,
        dkim_public_key text not null,
        dkim_private_key_sealed text not null,
        records jsonb not null default '[]',
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        verified_at timestamptz,
        checked_at timestamptz,
        unique (organization_id, name)
      );
      create unique index domains_verified_name on domains (name) where status = 'verified';

      -- Keys of domains that have no row in domains: the instance's own.
      create table dkim_key (
        domain text primary key,
        selector text not null,
        public_key text not null,
        private_key_sealed text not null,
        created_at timestamptz not null default now()
      );

      create table mailboxes (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        local_part text not null,
        domain text not null,
        address text not null,
        name text not null,
        purpose text,
        status text not null check (status in ('pending', 'active', 'suspended', 'deleting')),
        sync_status text not null check (sync_status in ('pending', 'synced')),
        token_hash bytea not null unique,
        metadata jsonb not null default '{}',
        client_id text,
        unauthenticated_mail text not null default 'junk' check (unauthenticated_mail in ('junk', 'inbox', 'reject')),
        sending_mode text not null default 'normal' check (sending_mode in ('normal', 'drafts_only', 'stopped')),
        messages_per_day integer check (messages_per_day >= 0),
        new_recipients_per_day integer check (new_recipients_per_day >= 0),
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        last_activity_at timestamptz,
        deleted_at timestamptz
      );
      create unique index mailboxes_address on mailboxes (address) where deleted_at is null;
      create index mailboxes_address_deleted on mailboxes (address, deleted_at) where deleted_at is not null;
      create unique index mailboxes_client_id on mailboxes (organization_id, client_id)
        where client_id is not null and deleted_at is null;
      create index mailboxes_organization_id on mailboxes (organization_id, id) where deleted_at is null;
      create index mailboxes_deleted_at on mailboxes (deleted_at) where deleted_at is not null;

      -- When the token of a mailbox was used last, on each protocol.
      create table mailbox_login (
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        protocol text not null,
        used_at timestamptz not null,
        primary key (mailbox_id, protocol)
      );

      -- Mail to postmaster and abuse.
      create table role_mail (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        address text not null,
        content_hash bytea not null,
        bytes bytea not null,
        created_at timestamptz not null,
        unique (organization_id, address, content_hash)
      );
      alter table role_mail alter column bytes set storage external;
      create index role_mail_recent on role_mail (organization_id, created_at);
    `);
  }
}
