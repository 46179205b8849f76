import { Migration } from '@mikro-orm/migrations';

/** Requests that people decide about held messages, whom an organization knows, and the log of decisions. */
export class Migration20261122000108_consents extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table consent (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        message_id text collate "C" not null references outbound_message on delete cascade,
        status text not null default 'pending' check (status in ('pending', 'approved', 'denied')),
        -- A kind of domain/consent.ts.
        held_because text,
        recipients text[] not null,
        content_hash bytea not null,
        subject text not null,
        preview text not null,
        expires_at timestamptz not null,
        created_at timestamptz not null,
        reminded_at timestamptz,
        scope text check (scope in ('message', 'address', 'domain')),
        reason text,
        -- ConsentChanges of domain/consent.ts; null: it was approved as it was.
        changes jsonb,
        decided_at timestamptz,
        decided_by jsonb,
        check ((status = 'pending') = (decided_at is null)),
        check ((status = 'approved') = (scope is not null))
      );
      create index consent_organization on consent (organization_id, id);
      create index consent_pending on consent (organization_id, expires_at) where status = 'pending';
      create index consent_message on consent (message_id);

      -- Whom the organization may write to without asking: an address, a domain, or an address within one thread.
      create table known_recipient (
        organization_id text collate "C" not null references organizations on delete cascade,
        kind text not null check (kind in ('address', 'domain', 'thread')),
        value text not null,
        source text not null check (source in ('approved', 'wrote_first')),
        consent_id text,
        created_at timestamptz not null default now(),
        last_used_at timestamptz not null default now(),
        primary key (organization_id, kind, value)
      );
      create index known_recipient_last_used_at on known_recipient (last_used_at);

      -- Beside change_log: both take their numbers from mailbox_counter.change_seq.
      create table decision_log (
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        seq bigint not null,
        consent_id text collate "C" not null references consent on delete cascade,
        created_at timestamptz not null default now(),
        primary key (mailbox_id, seq)
      );
      create index decision_log_consent on decision_log (consent_id);
      create index decision_log_created_at on decision_log using brin (created_at) with (pages_per_range = 32);
    `);
  }
}
