import { Migration } from '@mikro-orm/migrations';

/**
 * Deleting a row looks for the rows that reference it, and retention looks for rows by their age: each has an index, so
 * that neither reads a whole table.
 */
export class Migration20261125000150_indexes_of_references extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create index invitations_invited_by on invitations (invited_by);
      create index folder_mailbox_id on folder (mailbox_id);
      create index draft_mailbox_id on draft (mailbox_id);
      create index outbound_message_organization_id on outbound_message (organization_id);
      create index sender_list_mailbox_id on sender_list (mailbox_id);
      create index consent_mailbox_id on consent (mailbox_id);
      create index member_notice_settings_organization_id on member_notice_settings (organization_id);
      create index approval_notices_organization_id on approval_notices (organization_id);
      create index approval_links_organization_id on approval_links (organization_id);
      create index mailbox_file_organization_id on mailbox_file (organization_id);

      -- Of deleted rows, too: an index that leaves them out does not serve the deletion of their parent.
      drop index mailboxes_organization_id;
      create index mailboxes_organization_id on mailboxes (organization_id, id);
      drop index webhook_endpoints_organization_id;
      create index webhook_endpoints_organization_id on webhook_endpoints (organization_id, id);
      drop index webhook_endpoints_mailbox_id;
      create index webhook_endpoints_mailbox_id on webhook_endpoints (mailbox_id);
      drop index recoveries_open;
      create index recoveries_organization_id on recoveries (organization_id, id);

      create index role_mail_created_at on role_mail (created_at);
      create index reading_attempt_started_at on reading_attempt (started_at);
    `);
  }
}
