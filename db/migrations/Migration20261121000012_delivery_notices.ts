import { Migration } from '@mikro-orm/migrations';

/** What a submitter asked to be told of (RFC 3461). Null: not said. */
export class Migration20261121000012_delivery_notices extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table outbound_message
        add column envelope_id text,
        add column returned text check (returned in ('FULL', 'HDRS'));
      alter table outbound_recipient
        add column notify text[] check (notify <@ array['NEVER', 'SUCCESS', 'FAILURE', 'DELAY'] and notify <> '{}'),
        add column original_recipient text,
        -- When a success was told that the other side reported.
        add column success_told_at timestamptz;
    `);
  }
}
