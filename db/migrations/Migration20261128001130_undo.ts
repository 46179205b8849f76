import { Migration } from '@mikro-orm/migrations';

/** An approval can be taken back for some seconds, with all that was approved by it. */
export class Migration20261128001130_undo extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table consent
        -- Its message is not released before.
        add column undo_until timestamptz,
        -- The request whose wider approval decided this one.
        add column decided_with text collate "C";
      create index consent_decided_with on consent (decided_with) where decided_with is not null;
    `);
  }
}
