import { Migration } from '@mikro-orm/migrations';

/** When a recipient reported a message as abuse. */
export class Migration20261121000008_complaints extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table outbound_recipient add column complained_at timestamptz;
      create index outbound_recipient_complained on outbound_recipient (complained_at) where complained_at is not null;
    `);
  }
}
