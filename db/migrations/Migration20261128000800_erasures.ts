import { Migration } from '@mikro-orm/migrations';

/** Erasures: what was erased, how far one has come, and its receipt. */
export class Migration20261128000800_erasures extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- Without foreign keys: the row outlasts what it is about.
      create table erasure (
        id text collate "C" primary key,
        kind text not null check (kind in ('mailbox', 'organization', 'correspondent')),
        -- Ids; of a correspondent the hash of the address.
        subject jsonb not null,
        -- What the steps need until the end, such as addresses. Null: it has ended.
        pending jsonb,
        -- Rows by table; written with each portion.
        counts jsonb not null default '{}',
        -- Workflows whose rows are erased and that are still to be signalled.
        workflows text[] not null default '{}',
        workflows_signalled integer not null default 0,
        started_at timestamptz not null,
        finished_at timestamptz,
        -- The signed text, exactly as it was signed and written.
        receipt text,
        check ((pending is null) = (finished_at is not null) and (finished_at is null) = (receipt is null))
      );

      -- Digests are erased with their messages.
      create index attachment_digest_message on attachment_digest (message_id);
    `);
  }
}
