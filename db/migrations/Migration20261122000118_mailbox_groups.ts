import { Migration } from '@mikro-orm/migrations';

/** Groups of mailboxes, and API keys that are limited to some of them. */
export class Migration20261122000118_mailbox_groups extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table mailboxes add column group_name text;
      create index mailboxes_group on mailboxes (organization_id, group_name)
        where group_name is not null and deleted_at is null;
      -- Null: every mailbox of the organization.
      alter table api_keys add column mailbox_groups text[];

      create trigger organization_change_group after update of group_name on mailboxes for each row
        when (old.group_name is distinct from new.group_name)
        execute function organization_change_row('mailbox', 'id', 'id');
      create trigger organization_change_groups after update of mailbox_groups on api_keys for each row
        when (old.mailbox_groups is distinct from new.mailbox_groups)
        execute function organization_change_row('api_key', '', 'id');
    `);
  }
}
