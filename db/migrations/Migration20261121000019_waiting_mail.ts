import { Migration } from '@mikro-orm/migrations';

/** What waits in a mailbox needs room there together. */
export class Migration20261121000019_waiting_mail extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create index outbound_message_waiting on outbound_message (mailbox_id) where state in ('held', 'scheduled');
    `);
  }
}
