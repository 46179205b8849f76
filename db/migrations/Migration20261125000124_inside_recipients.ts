import { Migration } from '@mikro-orm/migrations';

/** Recipients nobody was asked about, because no other organization reads mail to them. */
export class Migration20261125000124_inside_recipients extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table outbound_recipient
        -- When the message was submitted, the address belonged to the organization of the sender, or to nobody here.
        add column inside boolean not null default false;
    `);
  }
}
