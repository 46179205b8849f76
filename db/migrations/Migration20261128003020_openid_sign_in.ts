import { Migration } from '@mikro-orm/migrations';

/** Sign-in by an OpenID provider: accounts that are linked, and sign-ins whose end is awaited. */
export class Migration20261128003020_openid_sign_in extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table oidc_identities (
        id text collate "C" primary key,
        issuer text not null,
        subject text not null,
        user_id text collate "C" not null references users on delete cascade,
        created_at timestamptz not null,
        last_used_at timestamptz,
        unique (issuer, subject)
      );
      create index oidc_identities_user_id on oidc_identities (user_id);
      create table oidc_sign_ins (
        id text collate "C" primary key,
        -- Of the state, or of the token by which an account is linked.
        state_hash bytea not null unique,
        -- Of the key that the browser keeps.
        browser_hash bytea not null,
        -- Of a sign-in that waits for the password of an account: whom it would link to what.
        user_id text collate "C" references users on delete cascade,
        issuer text,
        subject text,
        is_proven boolean,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index oidc_sign_ins_user_id on oidc_sign_ins (user_id);
      create index oidc_sign_ins_expires_at on oidc_sign_ins (expires_at);
      -- What the account is linked to by this sign-in, once its second step is done.
      alter table sign_in_challenges add column link_issuer text, add column link_subject text;
    `);
  }
}
