import { Migration } from '@mikro-orm/migrations';

/** Facts about received messages that their readers cannot see or may misread. */
export class Migration20261128000700_message_signals extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- Null: its mailbox wrote it, or it arrived before.
      alter table message add column signals jsonb;
    `);
  }
}
