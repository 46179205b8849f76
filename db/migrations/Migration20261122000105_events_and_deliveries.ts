import { Migration } from '@mikro-orm/migrations';

/**
 * Events, their deliveries and the attempts of these.
 *
 * The three tables are partitioned by day through their time-ordered ids (collation "C"), so that retention is a dropped
 * partition and an id alone finds its partition. The default partitions only ever contain rows when the daily partitions
 * were not made in time; `db/partitions.ts` moves those rows.
 */
export class Migration20261122000105_events_and_deliveries extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table events (
        id text collate "C" primary key,
        organization_id text collate "C" not null,
        mailbox_id text collate "C",
        -- The message it is about; null: none.
        message_id text collate "C",
        type text not null,
        payload text not null,
        occurred_at timestamptz not null
      ) partition by range (id);
      create index events_message_id on events (message_id) where message_id is not null;
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
        -- The batch that a dispatcher claimed it for; null: not claimed.
        fan_out_id text,
        workflow_id text,
        -- The statement that reserved the last attempt: repeated, it reserves nothing further.
        reservation uuid,
        check ((status = 'exhausted') = (reason is not null)),
        check ((status in ('success', 'exhausted')) = (completed_at is not null))
      ) partition by range (id);
      -- Deliveries of an endpoint are counted and filtered in this index, without reading the rows.
      create index deliveries_endpoint on deliveries (endpoint_id, id)
        include (status, event_type, reason, response_code);
      create index deliveries_undispatched on deliveries (id) where fan_out_id is null;
      create index deliveries_undispatched_of on deliveries (organization_id, id) where fan_out_id is null;
      create index deliveries_open on deliveries (endpoint_id, next_attempt_at) where status in ('pending', 'failed');
      -- Open deliveries by the workflow that processes them: what the sweep for overdue ones reads.
      create index deliveries_held on deliveries (workflow_id collate "C", (coalesce(next_attempt_at, created_at)))
        where status in ('pending', 'failed') and fan_out_id is not null;
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

      -- Token bucket of an organization's delivery rate. Dispatchers lease portions of it; negative is a debt.
      create table delivery_allowances (
        organization_id text collate "C" primary key references organizations on delete cascade,
        tokens double precision not null,
        refilled_at timestamptz not null
      );
    `);
  }
}
