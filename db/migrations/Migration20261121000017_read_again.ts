import { Migration } from '@mikro-orm/migrations';

/** Messages whose header and structure an earlier version read; the clean-up reads them again. */
export class Migration20261121000017_read_again extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- True for what is there, without a rewrite of the table; false for what comes.
      alter table message add column read_again boolean not null default true;
      alter table message alter column read_again set default false;
      create index message_read_again on message (id) where read_again;
    `);
  }
}
