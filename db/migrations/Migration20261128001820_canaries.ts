import { Migration } from '@mikro-orm/migrations';

/** Planted messages whose text must not leave, and the notice that it was about to. */
export class Migration20261128001820_canaries extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table mailbox_canary (
        mailbox_id text collate "C" primary key references mailboxes on delete cascade,
        -- Lower-case letters and digits, as the planted message says it.
        token text not null,
        planted_at timestamptz not null default now()
      );

      alter table member_notices drop constraint member_notices_kind_check;
      alter table member_notices add constraint member_notices_kind_check
        check (kind in ('webhook_failing', 'webhook_suspended', 'role_mail', 'invitation', 'approval_request',
                        'approval_reminder', 'approval_expired', 'chat_test', 'password_reset', 'password_changed',
                        'canary_sent')) not valid;
    `);
  }
}
