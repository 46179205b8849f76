/** `domain-reports`: what other hosts report about mail of the domains served here. */
import { type DomainReportSummary, summarizeDomainReports } from '#core/mailboxes/domain-reports.ts';
import { integer } from '#core/platform/settings/setting-forms.ts';
import { DOMAIN_REPORT_RETENTION_DAYS, REPORT_DAYS_DEFAULT } from '#domain/mail/domain-reports.ts';
import { command } from '#operations/command.ts';
import { domainName } from '#operations/installation-settings.ts';

const POOL_MAX = 1;

export const domainReportsCommand = command({
  name: 'domain-reports',
  summary: 'show DMARC and TLS reports of other hosts',
  description:
    'Adds up what other hosts reported by DMARC (RFC 7489) and TLS-RPT (RFC 8460) about mail of MAIL_DOMAIN and of the domains of organizations: which addresses sent in the name of each, how much of it passed, and connections without the TLS that a policy demands.',
  arguments: { domain: { text: 'only of this domain', optional: true, form: domainName } },
  options: {
    days: {
      text: 'reports about the last days',
      value: 'count',
      form: integer(1, DOMAIN_REPORT_RETENTION_DAYS),
      fallback: String(REPORT_DAYS_DEFAULT),
    },
  },
  examples: ['domain-reports', 'domain-reports agents.example.org --days 7 --json'],
  async run(context) {
    const db = await context.database(POOL_MAX);
    const reports = await summarizeDomainReports(db, null, {
      days: context.options.days,
      domain: context.args.domain,
      nowMs: Date.now(),
    });
    context.output({ domains: reports }, reportsText(reports, context.options.days));
    return 'done';
  },
});

function reportsText(reports: readonly DomainReportSummary[], days: number): string {
  if (reports.length === 0)
    return `No report came in the last ${days} days. dns-records prints the records that ask for them.`;
  return reports
    .flatMap(({ domain, dmarc, tls }) => [
      domain,
      ...(dmarc === null
        ? []
        : [
            `  DMARC: ${dmarc.passed} of ${dmarc.messages} messages passed, in ${dmarc.reports} reports of ${dmarc.reporters.join(', ')}`,
            ...dmarc.sources.map(
              ({ address, messages, passed, quarantined, rejected }) =>
                `    ${address}  ${messages} messages, ${passed} passed, ${quarantined + rejected} refused or in junk`,
            ),
          ]),
      ...(tls === null
        ? []
        : [
            `  TLS: ${tls.failed} of ${tls.sessions} sessions failed, in ${tls.reports} reports of ${tls.reporters.join(', ')}`,
            ...tls.failures.map(
              ({ type, host, sessions }) => `    ${type}  ${host === '' ? '' : `${host}, `}${sessions} sessions`,
            ),
          ]),
    ])
    .join('\n');
}
