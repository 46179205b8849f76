import { Migration } from '@mikro-orm/migrations';

/**
 * What IMAP lists show of a message, kept with its placement: the lines of the header fields that clients ask for, the
 * searchable envelope and the time of the Date field. The rows of a folder are read in the order of its UIDs, without
 * the rows of the messages.
 */
export class Migration20261122000112_listed_headers extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table placement
        -- Packed as in packages/mail-store/src/header-index.ts. Null: made later by the upgrade of stored mail.
        add column header_lines bytea,
        add column long_header_lines bytea,
        -- As in message_text. Null: not made yet, or too long for this row.
        add column envelope_text text,
        -- As in message, once header_lines is not null.
        add column sent_at timestamptz;
      -- Long lines are moved out of the row first, and uncompressed.
      alter table placement
        alter column header_lines set storage main,
        alter column long_header_lines set storage external,
        alter column envelope_text set storage main;
      alter table placement set (toast_tuple_target = 4080);
      -- Empty when all is done.
      create index placement_header_due on placement (message_id) where header_lines is null;
    `);
  }
}
