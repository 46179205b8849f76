import { Migration } from '@mikro-orm/migrations';

/** Certificates by ACME: accounts, one certificate for each name, and the challenges of open orders. */
export class Migration20261128001010_certificates extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table acme_account (
        -- Address of the directory of the authority.
        directory text primary key,
        key_sealed text not null,
        created_at timestamptz not null default now()
      );

      create table acme_certificate (
        name text primary key check (name = lower(name)),
        chain text,
        key_sealed text,
        issued_at timestamptz,
        expires_at timestamptz,
        -- When the next order is due.
        order_at timestamptz not null default now(),
        -- The process that orders it has it until then.
        leased_until timestamptz,
        -- Orders that failed since the last success.
        failures integer not null default 0,
        failed_at timestamptz,
        failure text,
        check ((chain is null) = (key_sealed is null))
      );

      create table acme_challenge (
        token text primary key,
        answer text not null,
        expires_at timestamptz not null
      );
    `);
  }
}
