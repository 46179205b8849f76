import { Migration } from '@mikro-orm/migrations';

/** Endpoints, recoveries of what they missed, and the built-in receiver. */
export class Migration20261122000104_webhooks extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table webhook_endpoints (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        -- Null: all mailboxes of the organization.
        mailbox_id text collate "C" references mailboxes on delete cascade,
        url text not null,
        -- What another server answered before does not count against this one.
        url_changed_at timestamptz,
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
        -- Until then workers consider the endpoint slow.
        troubled_until timestamptz,
        check ((auth_header_name is null) = (auth_header_value_sealed is null))
      );
      create index webhook_endpoints_organization_id on webhook_endpoints (organization_id, id) where deleted_at is null;
      create index webhook_endpoints_mailbox_id on webhook_endpoints (mailbox_id) where deleted_at is null;
      create index webhook_endpoints_deleted_at on webhook_endpoints (deleted_at) where deleted_at is not null;

      -- Given-up deliveries of an endpoint that are sent again; one at a time for each endpoint.
      create table recoveries (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        endpoint_id text collate "C" not null references webhook_endpoints on delete cascade,
        mailbox_id text collate "C",
        status text not null check (status in ('exhausted', 'failed')),
        since timestamptz not null,
        until timestamptz not null,
        state text not null default 'running' check (state in ('running', 'paused', 'completed', 'cancelled', 'stopped')),
        stop_reason text check (stop_reason in ('endpoint_inactive', 'endpoint_deleted', 'plan_downgraded',
          'mailbox_deleted')),
        after_id text collate "C" not null,
        before_id text collate "C" not null,
        total integer not null,
        succeeded integer not null default 0,
        failed integer not null default 0,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        finished_at timestamptz,
        check ((state = 'stopped') = (stop_reason is not null)),
        check ((state in ('running', 'paused')) = (finished_at is null))
      );
      create unique index recoveries_one_at_a_time on recoveries (endpoint_id) where finished_at is null;
      create index recoveries_endpoint on recoveries (endpoint_id, id);
      create index recoveries_open on recoveries (organization_id) where finished_at is null;
      create index recoveries_finished_at on recoveries (finished_at) where finished_at is not null;

      create table webhook_receiver (
        id text collate "C" primary key,
        organization_id text collate "C" not null unique references organizations on delete cascade,
        url text not null unique,
        token text collate "C" not null unique,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index webhook_receiver_expires_at on webhook_receiver (expires_at);

      create table received_request (
        id text collate "C" primary key,
        receiver_id text collate "C" not null references webhook_receiver on delete cascade,
        received_at timestamptz not null,
        headers jsonb not null,
        body text not null,
        signature text not null
      );
      create index received_request_of_receiver on received_request (receiver_id, id);
    `);
  }
}
