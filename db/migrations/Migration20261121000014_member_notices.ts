import { Migration } from '@mikro-orm/migrations';

/** What the service tells owners and admins by mail. */
export class Migration20261121000014_member_notices extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table member_notices (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        kind text not null check (kind in ('webhook_failing', 'webhook_suspended')),
        target_id text collate "C" not null,
        recipient text not null,
        subject text not null,
        body text not null,
        state text not null default 'waiting' check (state in ('waiting', 'sent', 'captured', 'failed')),
        attempts integer not null default 0,
        reply text,
        created_at timestamptz not null,
        due_at timestamptz not null,
        finished_at timestamptz,
        check ((state = 'waiting') = (finished_at is null))
      );
      create index member_notices_organization on member_notices (organization_id, id);
      create index member_notices_due on member_notices (due_at) where state = 'waiting';
    `);
  }
}
