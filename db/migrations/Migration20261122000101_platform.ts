import { Migration } from '@mikro-orm/migrations';

/** What all parts of the service share: stored answers, rate limits, turns of replicas, probes. */
export class Migration20261122000101_platform extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
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

      -- Counters of limited uses. Unlogged: after a crash all counters start at zero, which does no harm.
      create unlogged table rate_limits (
        key text primary key,
        used integer not null,
        resets_at_ms bigint not null
      ) with (fillfactor = 50);
      create index rate_limits_resets_at on rate_limits (resets_at_ms);

      -- One row for each sweep. Replicas take portions of a round in turn.
      create table sweeps (
        name text primary key,
        -- Up to which row the round has come; '' begins a round.
        position text collate "C" not null default '',
        next_at timestamptz not null default now()
      );
      insert into sweeps (name) values ('deliveries');

      -- One row for each kind of process, written by its readiness check.
      create table readiness_probe (
        process text primary key,
        written_at timestamptz not null
      ) with (fillfactor = 50);

      -- Where people reach the pages: notices are written by processes that serve none.
      create table public_address (
        is_only boolean primary key default true check (is_only),
        url text not null
      );
    `);
  }
}
