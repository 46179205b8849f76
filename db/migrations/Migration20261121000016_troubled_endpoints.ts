import { Migration } from '@mikro-orm/migrations';

/** Until when a worker takes an endpoint for a slow one. */
export class Migration20261121000016_troubled_endpoints extends Migration {
  override up(): void {
    this.addSql(/* sql */ `alter table webhook_endpoints add column troubled_until timestamptz;`);
  }
}
