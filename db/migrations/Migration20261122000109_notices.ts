import { Migration } from '@mikro-orm/migrations';

/** Notices to members by mail or chat, and the links that open one request for one member. */
export class Migration20261122000109_notices extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table member_notices (
        id text collate "C" primary key,
        -- Null: whose password is to be reset is known only when the notice is sent.
        organization_id text collate "C" references organizations on delete cascade,
        kind text not null
          check (kind in ('webhook_failing', 'webhook_suspended', 'role_mail', 'invitation', 'approval_request',
                          'approval_reminder', 'approval_expired', 'chat_test', 'password_reset', 'password_changed')),
        channel text not null default 'mail' check (channel in ('mail', 'chat')),
        target_id text collate "C" not null,
        recipient text not null,
        subject text not null,
        body text not null,
        -- Credential of the link in the notice, until the notice is sent.
        credential_sealed text,
        state text not null default 'waiting' check (state in ('waiting', 'sent', 'captured', 'failed')),
        attempts integer not null default 0,
        reply text,
        created_at timestamptz not null,
        due_at timestamptz not null,
        finished_at timestamptz,
        check ((state = 'waiting') = (finished_at is null)),
        constraint member_notices_credential_check
          check (credential_sealed is null or (state = 'waiting'
                 and kind in ('invitation', 'approval_request', 'approval_reminder', 'password_reset'))),
        constraint member_notices_organization_check
          check (organization_id is not null or kind in ('password_reset', 'password_changed'))
      );
      create index member_notices_organization on member_notices (organization_id, id);
      create index member_notices_due on member_notices (due_at) where state = 'waiting';
      create index member_notices_finished_at on member_notices (finished_at) where finished_at is not null;

      create table member_notice_settings (
        member_id text collate "C" primary key references members on delete cascade,
        organization_id text collate "C" not null references organizations on delete cascade,
        approvals text not null check (approvals in ('at_once', 'hourly', 'none')),
        chat_form text check (chat_form in ('slack', 'teams')),
        chat_host text,
        chat_url_sealed text,
        updated_at timestamptz not null,
        check ((chat_form is null) = (chat_url_sealed is null) and (chat_form is null) = (chat_host is null))
      );

      -- What a notice about held mail is about; while it is open, more is added to it.
      create table approval_notices (
        notice_id text collate "C" primary key
          references member_notices on delete cascade deferrable initially deferred,
        organization_id text collate "C" not null references organizations on delete cascade,
        member_id text collate "C" not null references members on delete cascade,
        kind text not null,
        channel text not null,
        send_at timestamptz not null,
        is_open boolean not null default true
      );
      create unique index approval_notices_open on approval_notices (member_id, kind, channel) where is_open;
      create index approval_notices_last on approval_notices (member_id, kind, channel, send_at);

      create table approval_notice_items (
        notice_id text collate "C" not null references approval_notices on delete cascade,
        consent_id text collate "C" not null references consent on delete cascade,
        primary key (notice_id, consent_id)
      );
      create index approval_notice_items_consent on approval_notice_items (consent_id);

      create table approval_links (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        consent_id text collate "C" not null references consent on delete cascade,
        member_id text collate "C" not null references members on delete cascade,
        notice_id text collate "C" not null,
        token_hash bytea not null unique,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index approval_links_consent on approval_links (consent_id);
      create index approval_links_member on approval_links (member_id);
      create index approval_links_notice on approval_links (notice_id);
      create index approval_links_expiry on approval_links (expires_at);
    `);
  }
}
