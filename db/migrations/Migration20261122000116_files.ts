import { Migration } from '@mikro-orm/migrations';

/**
 * Files that wait to be attached. Their bytes are rows of half a MiB, so that neither an upload nor a reader has a whole
 * file in memory.
 */
export class Migration20261122000116_files extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table mailbox_file (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        filename text not null,
        content_type text not null,
        -- Until the file is complete: the size that is reserved for it.
        size_bytes integer not null,
        -- expected: an upload URL was made; receiving: its bytes arrive; complete.
        state text not null check (state in ('expected', 'receiving', 'complete')),
        -- Of the credential in its upload URL.
        upload_hash bytea unique,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index mailbox_file_mailbox on mailbox_file (mailbox_id, id);
      create index mailbox_file_expiry on mailbox_file (expires_at);

      create table mailbox_file_chunk (
        file_id text collate "C" not null references mailbox_file on delete cascade,
        number integer not null,
        bytes bytea not null,
        primary key (file_id, number)
      );
      alter table mailbox_file_chunk alter column bytes set storage external;
    `);
  }
}
