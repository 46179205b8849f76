import { Migration } from '@mikro-orm/migrations';

/** Indexes of the queue of held messages: oldest first, of one mailbox, to one recipient. */
export class Migration20261128001110_waiting_consents extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create index consent_waiting on consent (organization_id, id) where status = 'pending';
      create index consent_waiting_mailbox on consent (organization_id, mailbox_id, id) where status = 'pending';
      create index consent_waiting_recipients on consent using gin (recipients) where status = 'pending';
    `);
  }
}
