import Type, { type Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { closed, nullable } from '#api/http/schema-parts.ts';
import { type DomainReportSummary, summarizeDomainReports } from '#core/mailboxes/domain-reports.ts';
import { DOMAIN_NAME_MAX } from '#domain/mail/domain-names.ts';
import {
  DOMAIN_REPORT_RETENTION_DAYS,
  REPORT_DAYS_DEFAULT,
  REPORT_SUMMARY_ROWS_MAX,
} from '#domain/mail/domain-reports.ts';

const ReportsQuery = closed({
  domain: Type.Optional(
    Type.String({ minLength: 1, maxLength: DOMAIN_NAME_MAX, description: 'Only reports about this domain.' }),
  ),
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DOMAIN_REPORT_RETENTION_DAYS,
      description: `Reports about the last days (default: ${REPORT_DAYS_DEFAULT}).`,
    }),
  ),
});

const totals = {
  reports: Type.Integer(),
  reporters: Type.Array(Type.String(), { description: 'Domains that sent reports, at most 20.' }),
};

const DmarcSource = closed(
  {
    address: Type.String({ description: 'IP address that sent mail in the name of the domain.' }),
    messages: Type.Integer(),
    passed: Type.Integer({ description: 'Messages that passed DMARC.' }),
    quarantined: Type.Integer({ description: 'Messages that were put among junk because of the policy.' }),
    rejected: Type.Integer({ description: 'Messages that were refused because of the policy.' }),
  },
  { title: 'DmarcSource' },
);

const TlsFailure = closed(
  {
    type: Type.String({ description: 'As the report names it (RFC 8460 §4.3), such as `certificate-expired`.' }),
    host: Type.String({ description: 'Mail host that was connected to; empty if the report names none.' }),
    sessions: Type.Integer(),
  },
  { title: 'TlsFailure' },
);

const DomainReports = closed(
  {
    domain: Type.String(),
    dmarc: nullable(
      closed(
        {
          ...totals,
          messages: Type.Integer(),
          passed: Type.Integer({ description: 'Messages that passed DMARC.' }),
          sources: Type.Array(DmarcSource, {
            description: `Those with the most messages, at most ${REPORT_SUMMARY_ROWS_MAX}.`,
          }),
        },
        { title: 'DmarcReports' },
      ),
    ),
    tls: nullable(
      closed(
        {
          ...totals,
          sessions: Type.Integer(),
          failed: Type.Integer({ description: 'Sessions without the TLS that the policy demands.' }),
          failures: Type.Array(TlsFailure, {
            description: `Those of the most sessions, at most ${REPORT_SUMMARY_ROWS_MAX}.`,
          }),
        },
        { title: 'TlsReports' },
      ),
    ),
  },
  { title: 'DomainReports' },
);

const DomainReportList = closed({ data: Type.Array(DomainReports) }, { title: 'DomainReportList' });

const presentDomainReports = ({ domain, dmarc, tls }: DomainReportSummary): Static<typeof DomainReports> => ({
  domain,
  dmarc:
    dmarc === null
      ? null
      : { ...dmarc, reporters: [...dmarc.reporters], sources: dmarc.sources.map((source) => ({ ...source })) },
  tls:
    tls === null
      ? null
      : { ...tls, reporters: [...tls.reporters], failures: tls.failures.map((failure) => ({ ...failure })) },
});

export const domainReportRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/domain-reports',
    operationId: 'getDomainReports',
    tag: 'Domains',
    summary: 'What other hosts report about mail of the domains',
    description: `Adds up the DMARC reports (RFC 7489) and TLS reports (RFC 8460) that arrived at \`dmarc@\` and \`tls-reports@\` of each domain, for ${DOMAIN_REPORT_RETENTION_DAYS} days. What they contain is a claim of the host that sent them. Reports about the domain of the instance are those of its first organization.`,
    auth: { scope: 'mailbox:read' },
    query: ReportsQuery,
    responses: {
      200: {
        description: 'By domain, in alphabetical order; without domains that nobody reported about.',
        schema: DomainReportList,
        example: {
          data: [
            {
              domain: 'example.com',
              dmarc: {
                reports: 12,
                reporters: ['google.com'],
                messages: 140,
                passed: 138,
                sources: [{ address: '192.0.2.10', messages: 138, passed: 138, quarantined: 0, rejected: 0 }],
              },
              tls: null,
            },
          ],
        },
      },
    },
    async handler({ services, organization, query }) {
      const reports = await summarizeDomainReports(services.db, organization.id, {
        days: query.days ?? REPORT_DAYS_DEFAULT,
        domain: query.domain,
        nowMs: services.now(),
      });
      return { status: 200, body: { data: reports.map(presentDomainReports) } };
    },
  }),
];
