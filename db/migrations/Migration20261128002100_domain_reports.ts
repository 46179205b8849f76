import { Migration } from '@mikro-orm/migrations';

/** What other hosts report about mail of a domain (RFC 7489 §7.2, RFC 8460), a row for each report. */
export class Migration20261128002100_domain_reports extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table domain_report (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        domain text not null,
        kind text not null check (kind in ('dmarc', 'tls')),
        -- Domain of the mail that brought it, authenticated.
        reporter text not null,
        report_id text not null,
        covers_from timestamptz not null,
        covers_until timestamptz not null check (covers_until >= covers_from),
        -- Messages or sessions, and those that failed.
        total bigint not null check (total >= 0),
        failed bigint not null check (failed between 0 and total),
        -- Sources or failures, those with the most mail.
        details jsonb not null,
        received_at timestamptz not null
      );
      -- A host that tries again, or sends a report to two addresses, is recognized.
      create unique index domain_report_once on domain_report (organization_id, domain, kind, reporter, report_id);
      create index domain_report_until on domain_report (organization_id, covers_until);
      create index domain_report_received_at on domain_report (received_at);
    `);
  }
}
