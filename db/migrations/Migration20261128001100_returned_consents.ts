import { Migration } from '@mikro-orm/migrations';

/** A person sends a held message back with a comment, and the mailbox submits a changed one under the same request. */
export class Migration20261128001100_returned_consents extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table consent
        -- A denial whose reason is a comment for the sender, who may submit a changed message.
        add column returned boolean not null default false,
        -- The returned request that this one continues.
        add column resubmits text collate "C" references consent on delete set null;
      -- A returned request is continued once.
      create unique index consent_resubmits on consent (resubmits) where resubmits is not null;
    `);
  }
}
