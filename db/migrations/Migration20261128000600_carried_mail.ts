import { Migration } from '@mikro-orm/migrations';

/** What stored mail says, as numbers by which its passages are found in outgoing mail. */
export class Migration20261128000600_carried_mail extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- A message whose passages are recognized, with the outside addresses that know what it says.
      create table carried_mail (
        number integer generated always as identity primary key,
        message_id text collate "C" not null unique references message on delete cascade,
        -- CarriedKind of mailstore/carried/carried-mail.ts.
        kind text not null check (kind in ('incoming', 'outgoing', 'internal')),
        parties text[] not null
      );

      -- Numbers of phrases, telling words and codes, different in each organization: 32 bits, because what is found is
      -- compared word by word, and there are many rows.
      create table carried_mark (
        mark integer not null,
        mail integer not null references carried_mail on delete cascade,
        primary key (mark, mail)
      );
      create index carried_mark_mail on carried_mark (mail);

      -- Messages that have no row in carried_mail yet; a check reads the newest itself.
      create table carried_due (
        message_id text collate "C" primary key references message on delete cascade,
        organization_id text collate "C" not null
      );
      create index carried_due_organization on carried_due (organization_id, message_id);

      -- Passages of other mail that a held message carries, as they were found.
      create table carried_passage (
        consent_id text collate "C" not null references consent on delete cascade,
        number smallint not null,
        message_id text collate "C" not null references message on delete cascade,
        count integer not null,
        -- CarriedPassage of sending/carried/find-carried.ts, the first of them.
        passages jsonb not null,
        primary key (consent_id, number)
      );
      create index carried_passage_message on carried_passage (message_id);
      -- The decision is about them: that about another message releases this one not.
      alter table consent add column carries_passages boolean not null default false;

      -- By every process, also one of the version before that still runs.
      create function note_carried_due() returns trigger language plpgsql as $$
      begin
        insert into carried_due (message_id, organization_id)
        select a.id, x.organization_id from added a join mailboxes x on x.id = a.mailbox_id
         where a.origin in ('smtp', 'local', 'submission', 'append')
        on conflict do nothing;
        return null;
      end $$;
      create trigger message_carried_due after insert on message
        referencing new table as added for each statement execute function note_carried_due();

      -- All stored mail, newest first, in portions after the migration: here it would lock the tables of mail.
      insert into installation_setting (name, value)
      select 'CARRIED_MAIL_TO_READ_BELOW', '~' where exists (select from message);
    `);
  }
}
