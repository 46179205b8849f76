import { Migration } from '@mikro-orm/migrations';

/** Sign-ins that a person confirms in the browser for a device that has none (RFC 8628). Both codes are stored as hashes. */
export class Migration20261122000115_device_sign_ins extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table device_sign_ins (
        id text collate "C" primary key,
        device_code_hash bytea not null unique,
        user_code_hash bytea not null unique,
        -- What the device calls itself.
        name text not null,
        ip_address text,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        polled_at timestamptz,
        -- Who decided; null: nobody yet.
        user_id text collate "C" references users on delete cascade,
        approved boolean
      );
      create index device_sign_ins_expires_at on device_sign_ins (expires_at);
      create index device_sign_ins_user_id on device_sign_ins (user_id);
    `);
  }
}
