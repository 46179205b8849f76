import { Migration } from '@mikro-orm/migrations';

/** Passkeys of people who sign in, and the ceremonies whose answers are awaited. */
export class Migration20261128003000_passkeys extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table passkeys (
        id text collate "C" primary key,
        user_id text collate "C" not null references users on delete cascade,
        -- What the authenticator calls it.
        credential_id bytea not null unique,
        -- COSE_Key.
        public_key bytea not null,
        -- Uses that the authenticator has counted; 0: it does not count.
        sign_count bigint not null,
        transports text[] not null,
        name text not null,
        created_at timestamptz not null,
        last_used_at timestamptz
      );
      create index passkeys_user_id on passkeys (user_id);
      create table passkey_ceremonies (
        id text collate "C" primary key,
        challenge_hash bytea not null unique,
        purpose text not null check (purpose in ('add', 'sign_in', 'second_step', 'confirm')),
        -- Null: a sign-in, whose person is not known yet.
        user_id text collate "C" references users on delete cascade,
        -- The session, or the sign-in that waits for its second step; null: neither.
        bound_to text collate "C",
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index passkey_ceremonies_user_id on passkey_ceremonies (user_id);
      create index passkey_ceremonies_expires_at on passkey_ceremonies (expires_at);
    `);
  }
}
