import { Migration } from '@mikro-orm/migrations';

/** Processes without a lane lease deliveries to a living lane of another one (docs/adr/0110). */
export class Migration20261128003500_lane_offers extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table delivery_lanes
        -- What the lane takes from other processes. Null: nothing, as of a lane of an older version.
        add column offer jsonb,
        -- It was shut down: its leases are free. Null: it lives, or has died.
        add column ended_at timestamptz;
    `);
  }
}
