import { Migration } from '@mikro-orm/migrations';

/** Writing first makes nobody known; replies are checked against the mail that they come from. */
export class Migration20261125000120_first_contacts extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- An earlier version that is still running may add such rows; nothing reads them any more.
      delete from known_recipient where source = 'wrote_first';

      -- SHA-256 of the attachments of stored mail. The rows outlast their message: deleting it makes nothing new.
      create table attachment_digest (
        organization_id text collate "C" not null references organizations on delete cascade,
        digest bytea not null,
        message_id text collate "C" not null,
        stored_at timestamptz not null default now(),
        primary key (organization_id, digest, message_id)
      );
      create index attachment_digest_stored_at on attachment_digest (stored_at);

      -- Stored mail is read again in the background, for the digests.
      update message set text_status = 'due' where attachments <> '[]' and text_status <> 'due';

      -- An approval that releases other messages too, in portions, until all of them are decided.
      alter table consent add column releases_others boolean not null default false;
      create index consent_releases_others on consent (decided_at) where releases_others;
    `);
  }
}
