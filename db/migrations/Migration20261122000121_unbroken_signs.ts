import { Migration } from '@mikro-orm/migrations';

/** A lane counts as dead only if another one has written its signs of life without a gap since. */
export class Migration20261122000121_unbroken_signs extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- First of the signs of life since then that came without a gap.
      alter table delivery_lanes add column unbroken_since timestamptz not null default now();
    `);
  }
}
