import { Migration } from '@mikro-orm/migrations';

/** Refused mail and failed logins, which have no other row, to be found for 30 days. */
export class Migration20261126000300_mail_refusals extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table mail_refusal (
        id text collate "C" primary key,
        at timestamptz not null,
        -- Of the recipients, or of the mailbox that submitted or logged in. Null: not known.
        organization_id text collate "C" references organizations on delete cascade,
        -- Addresses, Message-ID and ids that it is found by, in lower case.
        keys text[] not null,
        -- The line of the mail log.
        line jsonb not null
      );
      create index mail_refusal_keys on mail_refusal using gin (keys);
      create index mail_refusal_at on mail_refusal (at);
      create index mail_refusal_organization on mail_refusal (organization_id, at);
    `);
  }
}
