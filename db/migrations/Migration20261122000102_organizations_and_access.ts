import { Migration } from '@mikro-orm/migrations';

/** Organizations, the people in them, and how people and programs prove who they are. */
export class Migration20261122000102_organizations_and_access extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table organizations (
        id text collate "C" primary key,
        name text not null,
        slug text not null unique,
        plan text not null check (plan in ('free', 'team', 'business', 'unlimited')),
        settings jsonb not null default '{}',
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      );

      create table users (
        id text collate "C" primary key,
        email text not null unique check (email = lower(email)),
        name text not null,
        password_hash text not null,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        -- Until then the credentials of a new installation may be shown again.
        first_signed_in_at timestamptz
      );

      create table members (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        user_id text collate "C" not null references users on delete cascade,
        role text not null check (role in ('member', 'admin', 'owner')),
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        unique (organization_id, user_id)
      );
      create index members_user_id on members (user_id);

      create table invitations (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        email text not null check (email = lower(email)),
        role text not null check (role in ('member', 'admin', 'owner')),
        token_hash bytea not null unique,
        invited_by text collate "C" references users on delete set null,
        created_at timestamptz not null default now(),
        expires_at timestamptz not null,
        accepted_at timestamptz
      );
      create index invitations_organization_id on invitations (organization_id);
      create index invitations_expires_at on invitations (expires_at);

      create table sessions (
        id text collate "C" primary key,
        user_id text collate "C" not null references users on delete cascade,
        token_hash bytea not null unique,
        created_at timestamptz not null default now(),
        last_used_at timestamptz not null default now(),
        expires_at timestamptz not null,
        ip_address text,
        user_agent text
      );
      create index sessions_user_id on sessions (user_id);
      create index sessions_expires_at on sessions (expires_at);

      -- Where people signed in from, so that failed attempts from elsewhere do not lock them out.
      create table sign_in_sources (
        user_id text collate "C" not null references users on delete cascade,
        source text collate "C" not null,
        used_at timestamptz not null,
        primary key (user_id, source)
      );

      create table password_resets (
        id text collate "C" primary key,
        user_id text collate "C" not null references users on delete cascade,
        token_hash bytea not null unique,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index password_resets_user on password_resets (user_id);
      create index password_resets_expiry on password_resets (expires_at);

      create table api_keys (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        name text not null,
        key_hash bytea not null unique,
        key_hint text not null,
        scopes text[] not null,
        expires_at timestamptz,
        last_used_at timestamptz,
        created_by text collate "C",
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      );
      create index api_keys_organization_id on api_keys (organization_id, id);

      create table audit_entries (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        actor jsonb not null,
        action text not null,
        target_id text,
        details jsonb not null default '{}',
        ip_address text,
        request_id text,
        created_at timestamptz not null default now()
      );
      create index audit_entries_organization_id on audit_entries (organization_id, id);
      -- For retention: ids sort by time within an organization only.
      create index audit_entries_created_at on audit_entries (created_at);
    `);
  }
}
