import { Migration } from '@mikro-orm/migrations';

/** Entries of the suppression list are listed and removed one by one. */
export class Migration20261121000007_suppressions extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- There are none yet: nothing wrote to it before.
      delete from suppression;
      alter table suppression add column id text collate "C" not null unique;
      create index suppression_page on suppression (organization_id, id);
    `);
  }
}
