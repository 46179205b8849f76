import { Migration } from '@mikro-orm/migrations';

/** Where a trace goes on in another process: at an event, or at a message that is sent. Written where tracing is on. */
export class Migration20261128001500_trace_contexts extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table trace_context (
        -- Of the event, or of the message.
        id text collate "C" primary key,
        -- traceparent of W3C Trace Context: ids without meaning elsewhere.
        context text not null,
        at timestamptz not null default now()
      );
      create index trace_context_at on trace_context (at);
    `);
  }
}
