import { Migration } from '@mikro-orm/migrations';

/** Stored mail is read again in the background: more of short mails is kept, and facts of all mails. */
export class Migration20261128003600_carried_facts extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- A name of its own: the version before must not take it for the end of its work.
      insert into installation_setting (name, value)
      select 'CARRIED_MAIL_TO_READ_AGAIN_BELOW', '~' where exists (select from message)
      on conflict do nothing;
    `);
  }
}
