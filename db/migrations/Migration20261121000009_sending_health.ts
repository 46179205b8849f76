import { Migration } from '@mikro-orm/migrations';

/** Mailboxes too many of whose recipients bounced or complained. No row: all is well. */
export class Migration20261121000009_sending_health extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table mailbox_sending (
        mailbox_id text collate "C" primary key references mailboxes on delete cascade,
        state text not null check (state in ('ok', 'flagged', 'paused')),
        reason text,
        reviewed_at timestamptz not null,
        -- Somebody resumed it then: what was before is not counted any more.
        counted_from timestamptz,
        check ((state = 'ok') = (reason is null))
      );
    `);
  }
}
