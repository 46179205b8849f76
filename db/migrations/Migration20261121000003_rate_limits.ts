import { Migration } from '@mikro-orm/migrations';

/** Counters of limited uses. Unlogged: after a crash everybody starts with a full window, which harms nobody. */
export class Migration20261121000003_rate_limits extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create unlogged table rate_limits (
        key text primary key,
        used integer not null,
        resets_at_ms bigint not null
      ) with (fillfactor = 50);
    `);
  }
}
