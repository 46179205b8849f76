import { Migration } from '@mikro-orm/migrations';

/** Exports and imports of mailboxes that operators ask for by HTTP, and their files. */
export class Migration20261128003100_mailbox_moves extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table mailbox_move (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        direction text not null check (direction in ('export', 'import')),
        -- Of an export how it is written; of an import what it is, null: found out.
        format text,
        -- receiving: its file arrives; failed: it may be started again.
        state text not null check (state in ('receiving', 'running', 'finished', 'failed')),
        -- Key of the parts.
        key_sealed text not null,
        -- Bytes of the file.
        size_bytes bigint not null default 0,
        messages integer not null default 0,
        -- How far an export is. Names of folders, so it goes with the file.
        progress jsonb,
        -- Server and user to import from, and the password until the end.
        imap_url text,
        imap_user text,
        imap_password_sealed text,
        -- What an import did, and what somebody must look at.
        report jsonb,
        -- Why it failed.
        problem text,
        -- The run that may write; each run names itself.
        runner text,
        created_at timestamptz not null,
        finished_at timestamptz,
        expires_at timestamptz not null
      );
      create index mailbox_move_mailbox on mailbox_move (mailbox_id);
      create index mailbox_move_organization on mailbox_move (organization_id);
      create index mailbox_move_expiry on mailbox_move (expires_at);

      -- Parts of files, each encrypted with the key of the move.
      create table mailbox_move_part (
        move_id text collate "C" not null references mailbox_move on delete cascade,
        file text collate "C" not null,
        -- Where it is in the file, and how long, in bytes before the encryption.
        at bigint not null,
        size integer not null,
        bytes bytea not null,
        primary key (move_id, file, at)
      );
      alter table mailbox_move_part alter column bytes set storage external;
    `);
  }
}
