import { Migration } from '@mikro-orm/migrations';

/**
 * Sending: what was submitted, its recipients and attempts; consent; whom an organization knows, allows, blocks and no
 * longer writes to.
 *
 * A submitted message has its id from the start. While it is held there is no row in `message` and no placement, so no
 * door shows it; the foreign key keeps its bytes.
 */
export class Migration20261121000005_outbound extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table outbound_message (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        blob bytea not null references blob on delete restrict,
        size integer not null,
        -- SHA-256 over the raw bytes and the sorted recipients: what a consent is given for.
        content_hash bytea not null,
        message_id_header text not null,
        thread_id text,
        from_address text not null,
        to_addresses jsonb not null,
        cc_addresses jsonb not null,
        subject text not null,
        preview text not null,
        labels text[] not null,
        via text not null check (via in ('api', 'smtp')),
        actor jsonb not null,
        client_id text,
        -- The copy in Sent was there before the submission.
        filed boolean not null default false,
        consent_id text,
        state text not null check (state in ('held', 'sending', 'done', 'denied')),
        dkim_signature text,
        first_sent_at timestamptz,
        submitted_at timestamptz not null,
        give_up_at timestamptz,
        -- By when the workflow should have done something; the sweep starts it again after that.
        due_at timestamptz not null,
        finished_at timestamptz
      );
      create index outbound_message_due on outbound_message (due_at) where state in ('held', 'sending');
      create index outbound_message_mailbox on outbound_message (mailbox_id, id);
      create index outbound_message_blob on outbound_message (blob);
      create unique index outbound_message_client_id on outbound_message (mailbox_id, client_id)
        where client_id is not null;

      create table outbound_recipient (
        message_id text collate "C" not null references outbound_message on delete cascade,
        number smallint not null,
        address text not null,
        local boolean not null,
        status text not null
          check (status in ('queued', 'sending', 'sent', 'captured', 'bounced', 'suppressed', 'denied')),
        -- Answer of the other side, or why there was none.
        reply text,
        -- Enhanced status code (RFC 3463).
        code text,
        next_attempt_at timestamptz,
        updated_at timestamptz not null default now(),
        primary key (message_id, number)
      );

      create table outbound_attempt (
        message_id text collate "C" not null references outbound_message on delete cascade,
        destination text not null,
        number smallint not null,
        recipients text[] not null,
        transport text not null,
        started_at timestamptz not null,
        finished_at timestamptz,
        outcome text check (outcome in ('sent', 'captured', 'partial', 'deferred', 'failed')),
        reply text,
        primary key (message_id, destination, number)
      );

      create table consent (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        message_id text collate "C" not null references outbound_message on delete cascade,
        status text not null default 'pending' check (status in ('pending', 'approved', 'denied')),
        recipients text[] not null,
        content_hash bytea not null,
        subject text not null,
        preview text not null,
        expires_at timestamptz not null,
        created_at timestamptz not null,
        scope text check (scope in ('message', 'address', 'domain')),
        reason text,
        decided_at timestamptz,
        decided_by jsonb,
        check ((status = 'pending') = (decided_at is null)),
        check ((status = 'approved') = (scope is not null))
      );
      create index consent_organization on consent (organization_id, id);
      create index consent_pending on consent (organization_id, expires_at) where status = 'pending';

      -- Whom the organization may write to without asking: an address, a domain, or an address within one thread.
      create table known_recipient (
        organization_id text collate "C" not null references organizations on delete cascade,
        kind text not null check (kind in ('address', 'domain', 'thread')),
        value text not null,
        source text not null check (source in ('approved', 'wrote_first')),
        consent_id text,
        created_at timestamptz not null default now(),
        primary key (organization_id, kind, value)
      );

      create table suppression (
        organization_id text collate "C" not null references organizations on delete cascade,
        address text not null,
        reason text not null check (reason in ('hard_bounce', 'complaint')),
        message_id text,
        created_at timestamptz not null default now(),
        primary key (organization_id, address)
      );

      create table sender_list (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        -- Null: for all mailboxes of the organization.
        mailbox_id text collate "C" references mailboxes on delete cascade,
        direction text not null check (direction in ('inbound', 'outbound')),
        action text not null check (action in ('allow', 'block')),
        -- An address, or a domain.
        value text not null check (value = lower(value)),
        created_at timestamptz not null default now(),
        unique nulls not distinct (organization_id, mailbox_id, direction, value)
      );
      create index sender_list_page on sender_list (organization_id, direction, action, id);

      -- Keys of domains that are no row of domains: the instance's own.
      create table dkim_key (
        domain text primary key,
        selector text not null,
        public_key text not null,
        private_key_sealed text not null,
        created_at timestamptz not null default now()
      );
    `);
  }
}
