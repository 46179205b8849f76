import { Migration } from '@mikro-orm/migrations';

/**
 * First attempts that do not wait for a workflow: a worker takes deliveries by a lease that is valid while the worker
 * shows signs of life, and the workflow that carries them is started later (`docs/architecture.md`).
 */
export class Migration20261122000111_fast_lane extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- Workers that make first attempts. A row whose sign of life is old gives no lease.
      create table delivery_lanes (
        id uuid primary key,
        seen_at timestamptz not null default now()
      );

      -- The lane that makes the first attempt. Null: none has taken it yet; the nil UUID: none will, or none does any more.
      alter table deliveries add column lease uuid;
      drop index deliveries_undispatched;
      drop index deliveries_undispatched_of;
      -- Deliveries that neither a lane nor a workflow has taken.
      create index deliveries_untaken on deliveries (id) where fan_out_id is null and lease is null;
      create index deliveries_untaken_of on deliveries (organization_id, id) where fan_out_id is null and lease is null;
      -- Deliveries that a lane has taken, or passed on, and no workflow carries yet.
      create index deliveries_uncarried on deliveries (id) where fan_out_id is null and lease is not null;
      -- First attempts that lanes have under way, or left behind.
      create index deliveries_leased on deliveries (lease)
        where status = 'pending' and lease > '00000000-0000-0000-0000-000000000000';
    `);
  }
}
