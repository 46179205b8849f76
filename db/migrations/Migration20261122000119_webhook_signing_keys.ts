import { Migration } from '@mikro-orm/migrations';

/** Ed25519 keys with which webhooks are signed for endpoints that ask for it. */
export class Migration20261122000119_webhook_signing_keys extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table webhook_signing_key (
        -- Thumbprint of the public key (RFC 7638).
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        public_key text not null,
        private_key_sealed text not null,
        created_at timestamptz not null default now(),
        -- Until then it signs beside its successor. Null: it is the one that signs.
        expires_at timestamptz
      );
      create unique index webhook_signing_key_current on webhook_signing_key (organization_id) where expires_at is null;
      create index webhook_signing_key_organization on webhook_signing_key (organization_id);
      alter table webhook_endpoints add column public_key_signature boolean not null default false;
    `);
  }
}
