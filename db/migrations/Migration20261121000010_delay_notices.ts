import { Migration } from '@mikro-orm/migrations';

/** When the sender was told that a message still waits. */
export class Migration20261121000010_delay_notices extends Migration {
  override up(): void {
    this.addSql(/* sql */ `alter table outbound_message add column delay_told_at timestamptz;`);
  }
}
