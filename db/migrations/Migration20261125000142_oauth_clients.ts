import { Migration } from '@mikro-orm/migrations';

/** Programs that registered themselves (RFC 7591). */
export class Migration20261125000142_oauth_clients extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table oauth_clients (
        -- Collated as the client id of grants, or no index would serve their comparison.
        id text primary key,
        name text not null,
        redirect_uris text[] not null,
        created_at timestamptz not null,
        -- When a person opened its last request; null: nobody has.
        used_at timestamptz,
        expires_at timestamptz not null
      );
      create index oauth_clients_expires_at on oauth_clients (expires_at);
      create index oauth_clients_unused on oauth_clients (id) where used_at is null;
      -- Whether a registration still has access.
      create index oauth_grants_client_id on oauth_grants (client_id);
    `);
  }
}
