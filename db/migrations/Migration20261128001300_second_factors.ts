import { Migration } from '@mikro-orm/migrations';

/** Second factors of people who sign in: an authenticator app, recovery codes, and the step between password and code. */
export class Migration20261128001300_second_factors extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table totp_factor (
        user_id text collate "C" primary key references users on delete cascade,
        secret_sealed text not null,
        created_at timestamptz not null,
        -- Null: the person has not entered a code of it yet.
        confirmed_at timestamptz,
        -- Time step of the last accepted code: it and those before it are not accepted again.
        last_step bigint
      );
      create table recovery_code (
        user_id text collate "C" not null references users on delete cascade,
        code_hash bytea not null,
        created_at timestamptz not null,
        used_at timestamptz,
        primary key (user_id, code_hash)
      );
      -- The password was right; the second factor is awaited.
      create table sign_in_challenges (
        id text collate "C" primary key,
        user_id text collate "C" not null references users on delete cascade,
        token_hash bytea not null unique,
        -- Codes that were entered for it.
        tries integer not null default 0,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index sign_in_challenges_user_id on sign_in_challenges (user_id);
      create index sign_in_challenges_expires_at on sign_in_challenges (expires_at);
      -- When the person of the session proved a second factor; null: not at all.
      alter table sessions add column second_factor_at timestamptz;
      alter table device_sign_ins add column second_factor_at timestamptz;
    `);
  }
}
