/**
 * Reports of other hosts about mail of a domain served here: taken at `dmarc@` and `tls-reports@` of the domain, added up
 * for people who want to know who sends in its name, and whose TLS fails.
 *
 * A report is a claim of the host that sent it. So its mail must be authenticated, and the name of that host is kept.
 */
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import { findRoleOrganization, type RoleOrganization } from '#db/queries/mailboxes/role-mail.ts';
import {
  type DomainReportKind,
  REPORT_ADDRESSES,
  REPORT_SUMMARY_ROWS_MAX,
  REPORTS_PER_HOUR_MAX,
} from '#domain/mail/domain-reports.ts';
import { deliveryAddress, domainOf } from '#domain/mail/mailbox-address.ts';
import type { DmarcSource, DomainReport, TlsFailure } from '#mime/domain-report.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** An address that takes reports. */
export interface ReportAddress extends RoleOrganization {
  /** With its domain, without plus-tag. */
  readonly address: string;
}

const LOCAL_PARTS: ReadonlySet<string> = new Set(Object.values(REPORT_ADDRESSES));

/**
 * Undefined: no such address of a domain served here. Reports about the default domain are those of the first
 * organization, as mail to its `postmaster`. Queries the database only for such local parts.
 */
export async function findReportAddress(
  sql: Sql,
  defaultDomain: string,
  given: string,
): Promise<ReportAddress | undefined> {
  const address = withAsciiDomain(deliveryAddress(given));
  if (!LOCAL_PARTS.has(address.slice(0, address.lastIndexOf('@')))) return undefined;
  const organization = await findRoleOrganization(sql, defaultDomain, domainOf(address), address);
  return organization === undefined ? undefined : { address, ...organization };
}

type ReportOutcome =
  | 'recorded'
  /** It was recorded before. */
  | 'repeated'
  /** It is about another domain than that of the address. */
  | 'foreign'
  /** The organization has reached the limit of an hour. */
  | 'too-many';

export interface ReceivedReport {
  readonly to: ReportAddress;
  /** Domain that sent it, authenticated by SPF or DKIM. */
  readonly reporter: string;
  readonly report: DomainReport;
}

/** Call it in a transaction. */
export async function recordDomainReport(
  sql: Sql,
  { to: { organizationId, address }, reporter, report }: ReceivedReport,
  nowMs: number,
): Promise<ReportOutcome> {
  const domain = domainOf(address);
  if (report.domain !== domain) return 'foreign';
  const now = new Date(nowMs);
  const sum = (of: (source: DmarcSource) => number) =>
    report.kind === 'dmarc' ? report.sources.reduce((total, source) => total + of(source), 0) : 0;
  const isTls = report.kind === 'tls';
  const rows = await sql.query(
    `insert into domain_report (id, organization_id, domain, kind, reporter, report_id, covers_from, covers_until,
                                total, failed, details, received_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12) on conflict do nothing returning id`,
    [
      ...[newId('domainReport', nowMs), organizationId, domain, report.kind, reporter, report.reportId],
      ...[report.from, report.until],
      isTls ? report.sessions : sum(({ messages }) => messages),
      isTls ? Math.min(report.failed, report.sessions) : sum(({ messages, passed }) => messages - passed),
      JSON.stringify(isTls ? report.failures : report.sources),
      now,
    ],
  );
  if (rows.length === 0) return 'repeated';
  const [counted] = await sql.query<{ count: number }>(
    `select count(*) from domain_report where organization_id = $1 and received_at > $2`,
    [organizationId, new Date(nowMs - HOUR_MS)],
  );
  return (counted?.count ?? 0) > REPORTS_PER_HOUR_MAX ? 'too-many' : 'recorded';
}

interface ReportTotals {
  readonly reports: number;
  /** Hosts that reported, by the domains that sent the reports. */
  readonly reporters: readonly string[];
}

/** Of one domain, over the days asked for. */
export interface DomainReportSummary {
  readonly domain: string;
  /** Null: no report came. */
  readonly dmarc: (ReportTotals & { messages: number; passed: number; sources: readonly DmarcSource[] }) | null;
  readonly tls: (ReportTotals & { sessions: number; failed: number; failures: readonly TlsFailure[] }) | null;
}

interface TotalRow {
  domain: string;
  kind: DomainReportKind;
  reports: number;
  reporters: string[];
  total: number;
  failed: number;
}

/**
 * By domain, in alphabetical order.
 *
 * @param organizationId whose domains; null: those of the whole installation
 * @param domain only this one
 */
export async function summarizeDomainReports(
  sql: Sql,
  organizationId: string | null,
  { days, domain, nowMs }: { readonly days: number; readonly domain?: string | undefined; readonly nowMs: number },
): Promise<DomainReportSummary[]> {
  const values = [organizationId, new Date(nowMs - days * DAY_MS), domain?.toLowerCase() ?? null];
  const [totals, sources, failures] = [
    await sql.query<TotalRow>(TOTALS, values),
    await sql.query<DmarcSource & { domain: string }>(SOURCES, values),
    await sql.query<TlsFailure & { domain: string }>(FAILURES, values),
  ];
  return [...Map.groupBy(totals, (row) => row.domain)].map(([name, rows]): DomainReportSummary => {
    const of = (kind: DomainReportKind) => rows.find((row) => row.kind === kind);
    const isOwn = (row: { readonly domain: string }) => row.domain === name;
    const [dmarc, tls] = [of('dmarc'), of('tls')];
    return {
      domain: name,
      dmarc:
        dmarc === undefined
          ? null
          : {
              reports: dmarc.reports,
              reporters: dmarc.reporters,
              messages: dmarc.total,
              passed: dmarc.total - dmarc.failed,
              sources: sources.filter(isOwn).map(({ address, messages, passed, quarantined, rejected }) => ({
                ...{ address, messages, passed, quarantined, rejected },
              })),
            },
      tls:
        tls === undefined
          ? null
          : {
              reports: tls.reports,
              reporters: tls.reporters,
              sessions: tls.total,
              failed: tls.failed,
              failures: failures.filter(isOwn).map(({ type, host, sessions }) => ({ type, host, sessions })),
            },
    };
  });
}

const REPORTERS_SHOWN_MAX = 20;
const WANTED = `($1::text is null or r.organization_id = $1) and r.covers_until >= $2 and ($3::text is null or r.domain = $3)`;

const TOTALS = `
  select domain, kind, count(*)::int as reports, sum(total)::float8 as total, sum(failed)::float8 as failed,
         (array_agg(distinct reporter))[1:${REPORTERS_SHOWN_MAX}] as reporters
    from domain_report r where ${WANTED} group by domain, kind order by domain, kind`;

const SOURCES = `
  with added as (
    select r.domain, d.address, sum(d.messages) as messages, sum(d.passed) as passed,
           sum(d.quarantined) as quarantined, sum(d.rejected) as rejected
      from domain_report r, jsonb_to_recordset(r.details)
             as d (address text, messages float8, passed float8, quarantined float8, rejected float8)
     where r.kind = 'dmarc' and ${WANTED} group by r.domain, d.address)
  select domain, address, messages, passed, quarantined, rejected
    from (select *, row_number() over (partition by domain order by messages desc, address) as place from added) placed
   where place <= ${REPORT_SUMMARY_ROWS_MAX} order by domain, place`;

const FAILURES = `
  with added as (
    select r.domain, d.type, d.host, sum(d.sessions) as sessions
      from domain_report r, jsonb_to_recordset(r.details) as d (type text, host text, sessions float8)
     where r.kind = 'tls' and ${WANTED} group by r.domain, d.type, d.host)
  select domain, type, host, sessions
    from (select *, row_number() over (partition by domain order by sessions desc, type, host) as place from added) placed
   where place <= ${REPORT_SUMMARY_ROWS_MAX} order by domain, place`;
