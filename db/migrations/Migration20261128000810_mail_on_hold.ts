import { Migration } from '@mikro-orm/migrations';

/** Outgoing mail that the operator of the installation stopped. */
export class Migration20261128000810_mail_on_hold extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- Since when nothing of it is sent until the operator releases it.
      alter table outbound_message add column on_hold_since timestamptz;
    `);
  }
}
