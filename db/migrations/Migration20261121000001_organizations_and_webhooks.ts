import { Migration } from '@mikro-orm/migrations';

/**
 * Organizations, people, credentials, mailboxes, webhooks.
 *
 * `events`, `deliveries` and `delivery_attempts` are partitioned by day through their time-ordered ids (collation "C"),
 * so that retention is a dropped partition and an id alone finds its partition. The default partitions only ever hold
 * rows when the daily partitions were not made in time; `db/partitions.ts` moves those rows.
 */
export class Migration20261121000001_organizations_and_webhooks extends Migration {
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
        updated_at timestamptz not null default now()
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

      create table sessions (
        id text collate "C" primary key,
        user_id text collate "C" not null references users on delete cascade,
        token_hash bytea not null unique,
        created_at timestamptz not null default now(),
        last_used_at timestamptz not null default now(),
        expires_at timestamptz not null
      );
      create index sessions_user_id on sessions (user_id);

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

      create table mailboxes (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        local_part text not null,
        domain text not null,
        address text not null,
        name text not null,
        status text not null check (status in ('pending', 'active', 'suspended', 'deleting')),
        sync_status text not null check (sync_status in ('pending', 'synced')),
        token_hash bytea not null unique,
        metadata jsonb not null default '{}',
        client_id text,
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

      create table webhook_endpoints (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        mailbox_id text collate "C" references mailboxes on delete cascade,
        url text not null,
        event_types text[] not null check (cardinality(event_types) > 0),
        description text,
        active boolean not null default true,
        disabled_reason text check (disabled_reason in ('gone', 'failing', 'suspended')),
        auth_header_name text,
        auth_header_value_sealed text,
        secret_sealed text not null,
        secret_prefix text not null,
        previous_secret_sealed text,
        previous_secret_expires_at timestamptz,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        deleted_at timestamptz,
        last_success_at timestamptz,
        failing_since timestamptz,
        check ((auth_header_name is null) = (auth_header_value_sealed is null))
      );
      create index webhook_endpoints_organization_id on webhook_endpoints (organization_id, id) where deleted_at is null;
      create index webhook_endpoints_mailbox_id on webhook_endpoints (mailbox_id) where deleted_at is null;

      create table events (
        id text collate "C" primary key,
        organization_id text collate "C" not null,
        mailbox_id text collate "C",
        type text not null,
        payload text not null,
        occurred_at timestamptz not null
      ) partition by range (id);
      create table events_default partition of events default;

      create table deliveries (
        id text collate "C" primary key,
        event_id text collate "C" not null,
        endpoint_id text collate "C" not null,
        organization_id text collate "C" not null,
        mailbox_id text collate "C",
        event_type text not null,
        status text not null default 'pending' check (status in ('pending', 'success', 'failed', 'exhausted')),
        reason text check (reason in ('attempts_exhausted', 'endpoint_inactive', 'endpoint_deleted', 'endpoint_gone',
          'plan_downgraded', 'unsafe_destination', 'mailbox_deleted')),
        attempt_count smallint not null default 0,
        max_attempts smallint not null default 5,
        last_error text,
        response_code smallint,
        next_attempt_at timestamptz,
        created_at timestamptz not null default now(),
        completed_at timestamptz,
        fan_out_id text,
        workflow_id text,
        check ((status = 'exhausted') = (reason is not null)),
        check ((status in ('success', 'exhausted')) = (completed_at is not null))
      ) partition by range (id);
      create index deliveries_endpoint on deliveries (endpoint_id, id);
      create index deliveries_undispatched on deliveries (id) where fan_out_id is null;
      create index deliveries_undispatched_of on deliveries (organization_id, id) where fan_out_id is null;
      create index deliveries_open on deliveries (endpoint_id, next_attempt_at) where status in ('pending', 'failed');
      create table deliveries_default partition of deliveries default;

      create table delivery_attempts (
        delivery_id text collate "C" not null,
        number smallint not null,
        trigger text not null check (trigger in ('automatic', 'manual')),
        started_at timestamptz not null,
        duration_ms integer not null,
        response_code smallint,
        error text,
        response_headers jsonb,
        response_body bytea,
        remote_address text,
        primary key (delivery_id, number)
      ) partition by range (delivery_id);
      create table delivery_attempts_default partition of delivery_attempts default;

      create table idempotency_keys (
        principal text not null,
        key text not null,
        request_hash bytea not null,
        status smallint,
        headers jsonb,
        body text,
        body_sealed text,
        created_at timestamptz not null default now(),
        primary key (principal, key)
      );
      create index idempotency_keys_created_at on idempotency_keys (created_at);

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
    `);
  }
}
