import { Migration } from '@mikro-orm/migrations';

/**
 * The content of a message that is over is kept for 30 days, for notices about what comes back; its rows stay. And which
 * failures were reported to a return path that several recipients shared: any of them could have written the report.
 */
export class Migration20261121000015_content_of_sent_mail extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table outbound_message alter column blob drop not null;
      create index outbound_message_content on outbound_message (finished_at)
        where blob is not null and finished_at is not null;
      alter table outbound_recipient add column report_shared boolean not null default false;
    `);
  }
}
