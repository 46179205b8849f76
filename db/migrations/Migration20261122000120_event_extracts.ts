import { Migration } from '@mikro-orm/migrations';

/** Codes and links of a message in its event, for endpoints that ask for them. */
export class Migration20261122000120_event_extracts extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table webhook_endpoints add column include_extracts boolean not null default false;
      -- Immutable like the payload. Null: no endpoint asked for it.
      alter table events add column extracts text;
      -- Whether the endpoint asked for it when the event happened: all attempts send the same bytes.
      alter table deliveries add column with_extracts boolean not null default false;
    `);
  }
}
