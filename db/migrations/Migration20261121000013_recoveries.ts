import { Migration } from '@mikro-orm/migrations';

/** Given-up deliveries of an endpoint that are sent again; one at a time for each endpoint. */
export class Migration20261121000013_recoveries extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
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
    `);
  }
}
