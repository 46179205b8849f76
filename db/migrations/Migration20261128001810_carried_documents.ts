import { Migration } from '@mikro-orm/migrations';

/** The text of files in stored mail, by which passages of them are found in outgoing mail. */
export class Migration20261128001810_carried_documents extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- As it was read in the background: a comparison does not read a file again.
      create table carried_document (
        message_id text collate "C" primary key references message on delete cascade,
        text text not null
      );
    `);
  }
}
