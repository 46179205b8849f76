import { Migration } from '@mikro-orm/migrations';

/** Notices about held incoming mail, a digest for each member, and quiet hours. */
export class Migration20261128003400_desk_notices extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table member_notice_settings
        -- Null: nothing was chosen.
        add column incoming text check (incoming in ('at_once', 'digest', 'none')),
        add column digest jsonb,
        add column quiet_hours jsonb;

      -- What a member was notified of, and when it is next.
      create table member_desk_notice (
        member_id text collate "C" primary key references members on delete cascade,
        organization_id text collate "C" not null references organizations on delete cascade,
        digest_at timestamptz not null,
        -- When the last one was due, and the one before it.
        digested_at timestamptz,
        digested_before timestamptz,
        incoming_notified_at timestamptz,
        -- Notices are about incoming mail that arrived after this, until that.
        incoming_after timestamptz not null,
        incoming_until timestamptz not null
      );
      create index member_desk_notice_organization on member_desk_notice (organization_id);
      create index member_desk_notice_digest on member_desk_notice (digest_at);
      create index held_arrival_organization_waiting on held_arrival (organization_id, received_at) where state = 'held';

      alter table member_notices drop constraint member_notices_kind_check;
      alter table member_notices add constraint member_notices_kind_check
        check (kind in ('webhook_failing', 'webhook_suspended', 'role_mail', 'invitation', 'approval_request',
                        'approval_reminder', 'approval_expired', 'chat_test', 'password_reset', 'password_changed',
                        'canary_sent', 'held_mail', 'desk_digest')) not valid;
    `);
  }
}
