import { Migration } from '@mikro-orm/migrations';

/** Settings that all processes of the installation must have alike, see `core/platform/agreed-settings.ts`. */
export class Migration20261125000115_installation_settings extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table installation_setting (
        name text primary key,
        -- A secret is stored as its fingerprint.
        value text not null,
        changed_at timestamptz not null default now()
      );
    `);
  }
}
