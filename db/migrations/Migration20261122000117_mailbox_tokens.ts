import { Migration } from '@mikro-orm/migrations';

/**
 * Tokens of mailboxes. The first one is that of the creation and of `rotate-token`: both write its hash to
 * `mailboxes.token_hash`, as every version did, and triggers keep its row. Logins read `mailbox_token` alone.
 */
export class Migration20261122000117_mailbox_tokens extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table mailbox_token (
        id text collate "C" primary key,
        organization_id text collate "C" not null,
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        name text not null,
        access text not null default 'full' check (access in ('full', 'read', 'send')),
        token_hash bytea not null unique,
        -- First characters of the token; null for the first one, of which only the hash is known here.
        hint text,
        -- Whether it is that of the creation or of rotate-token.
        is_first boolean not null default false,
        expires_at timestamptz,
        last_used_at timestamptz,
        -- Who made it: user or API key.
        created_by text,
        created_at timestamptz not null default now()
      );
      create index mailbox_token_mailbox on mailbox_token (mailbox_id, id);

      create function first_mailbox_tokens() returns trigger language plpgsql as $$
      begin
        insert into mailbox_token (id, organization_id, mailbox_id, name, token_hash, is_first, created_at)
        select 'tok_' || substr(n.id, 5), n.organization_id, n.id, 'First token', n.token_hash, true, n.created_at
          from new_rows n;
        return null;
      end $$;
      create trigger first_mailbox_tokens after insert on mailboxes referencing new table as new_rows
        for each statement execute function first_mailbox_tokens();

      create function rotated_mailbox_token() returns trigger language plpgsql as $$
      begin
        insert into mailbox_token as t (id, organization_id, mailbox_id, name, token_hash, is_first)
        values ('tok_' || substr(new.id, 5), new.organization_id, new.id, 'First token', new.token_hash, true)
            on conflict (id) do update set token_hash = excluded.token_hash, created_at = now(), last_used_at = null;
        return null;
      end $$;
      create trigger rotated_mailbox_token after update of token_hash on mailboxes for each row
        when (old.token_hash is distinct from new.token_hash) execute function rotated_mailbox_token();

      insert into mailbox_token (id, organization_id, mailbox_id, name, token_hash, is_first, created_at)
      select 'tok_' || substr(id, 5), organization_id, id, 'First token', token_hash, true, created_at from mailboxes
       where deleted_at is null;

      -- Pages show tokens; those of creation and rotation are changes of the mailbox already.
      create trigger organization_change_added after insert on mailbox_token for each row when (not new.is_first)
        execute function organization_change_row('mailbox', 'mailbox_id', 'mailbox_id');
      create trigger organization_change_removed after delete on mailbox_token for each row
        execute function organization_change_row('mailbox', 'mailbox_id', 'mailbox_id');
    `);
  }
}
