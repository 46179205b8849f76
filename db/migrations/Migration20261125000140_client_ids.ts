import { Migration } from '@mikro-orm/migrations';

/** A client id is stored with hashes of what was asked, so that other content under the same id is noticed. */
export class Migration20261125000140_client_ids extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- SHA-256 of the request as written and of its content; a repeated request has one of them.
      alter table outbound_message add column client_hashes bytea[];
      alter table draft add column client_hashes bytea[];
      alter table mailboxes add column client_hash bytea;
    `);
  }
}
