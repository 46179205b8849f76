import { Migration } from '@mikro-orm/migrations';

/** The risk of a held message, by which the queue can be read. */
export class Migration20261128001700_consent_risk extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table consent add column risk smallint not null default 0 check (risk between 0 and 3);
      -- What waits now, as far as its request says it.
      update consent
         set risk = case when carries_passages or held_because = 'carries_other_mail' then 3
                         when held_because = 'reply_target' then 2 else 1 end
       where status = 'pending'
         and (carries_passages or held_because in
           ('carries_other_mail', 'reply_target', 'over_message_budget', 'over_new_recipient_budget'));
      create index consent_waiting_risk on consent (organization_id, risk desc, id) where status = 'pending';
    `);
  }
}
