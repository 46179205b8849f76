import { Migration } from '@mikro-orm/migrations';

/** What operators did, by HTTP with their key, and when backups were made. */
export class Migration20261128001400_operator_uses extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- Ids only, no addresses and no content: an erasure has nothing to search here.
      create table operator_use (
        id text collate "C" primary key,
        at timestamptz not null,
        -- Name of the operation, or of the command.
        operation text not null,
        via text not null check (via in ('http', 'command')),
        -- Id of what it was about.
        target_id text,
        -- Status of the answer. Null: it has not ended, or the process did not live to see its end.
        status smallint,
        ip_address text,
        request_id text
      );
      create index operator_use_at on operator_use (at);
    `);
  }
}
