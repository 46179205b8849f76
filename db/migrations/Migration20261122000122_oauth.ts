import { Migration } from '@mikro-orm/migrations';

/** Access of programs to a mailbox by OAuth 2.1. Codes and tokens are stored as hashes. */
export class Migration20261122000122_oauth extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- A question that a person looks at, already checked.
      create table oauth_requests (
        id text collate "C" primary key,
        user_id text collate "C" not null references users on delete cascade,
        client_id text not null,
        client_name text not null,
        redirect_uri text not null,
        state text,
        code_challenge text not null,
        resource text not null,
        accesses text[] not null,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index oauth_requests_expires_at on oauth_requests (expires_at);
      create index oauth_requests_user_id on oauth_requests (user_id);

      -- What a person has given to a program. Ends with the membership of the person.
      create table oauth_grants (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        mailbox_id text collate "C" not null references mailboxes on delete cascade,
        user_id text collate "C" not null references users on delete cascade,
        client_id text not null,
        client_name text not null,
        redirect_uri text not null,
        code_challenge text not null,
        resource text not null,
        access text not null check (access in ('full', 'read', 'send')),
        created_at timestamptz not null,
        last_used_at timestamptz,
        -- When its last token has expired.
        expires_at timestamptz not null
      );
      create index oauth_grants_mailbox_id on oauth_grants (mailbox_id, id);
      create index oauth_grants_organization_id on oauth_grants (organization_id);
      create index oauth_grants_user_id on oauth_grants (user_id);
      create index oauth_grants_expires_at on oauth_grants (expires_at);

      create table oauth_tokens (
        hash bytea primary key,
        grant_id text collate "C" not null references oauth_grants on delete cascade,
        kind text not null check (kind in ('code', 'access', 'refresh')),
        expires_at timestamptz not null,
        -- A code or refresh token that comes again after this was stolen.
        used_at timestamptz
      );
      create index oauth_tokens_grant_id on oauth_tokens (grant_id);
      create index oauth_tokens_expires_at on oauth_tokens (expires_at);
    `);
  }
}
