/** `domains`. */
import type { Command } from 'commander';
import { addDeletion, addList, type Shown, shown, withOrganization } from '#cli/command.ts';
import { recordText, tableText } from '#cli/output.ts';
import type { Domain, DomainReportList } from '#client/index.ts';

const domainShown = (domain: Domain): Shown => ({
  value: domain,
  text: () => {
    const { id, name, status, records, catchAllMailboxId, checkedAt } = domain;
    return [
      recordText({ id, name, status, catchAllMailboxId, checkedAt }),
      '',
      tableText(records, ['status', 'type', 'name', 'value'], 'No records.'),
    ].join('\n');
  },
});

const reportsShown = (reports: DomainReportList): Shown => ({
  value: reports,
  text: () =>
    reports.data.length === 0
      ? 'No report came in the last 30 days.'
      : reports.data
          .flatMap(({ domain, dmarc, tls }) => [
            recordText({
              domain,
              ...(dmarc === null
                ? {}
                : { dmarcReports: dmarc.reports, messages: dmarc.messages, passedDmarc: dmarc.passed }),
              ...(tls === null
                ? {}
                : { tlsReports: tls.reports, tlsSessions: tls.sessions, failedSessions: tls.failed }),
            }),
            ...(dmarc === null
              ? []
              : ['', tableText(dmarc.sources, ['address', 'messages', 'passed', 'quarantined', 'rejected'], '')]),
            ...(tls === null || tls.failures.length === 0
              ? []
              : ['', tableText(tls.failures, ['type', 'host', 'sessions'], '')]),
            '',
          ])
          .join('\n')
          .trimEnd(),
});

export function addDomainCommands(program: Command): void {
  const domains = program.command('domains').description('Use your own domains');
  addList(
    domains,
    'List domains',
    ['id', 'name', 'status', 'verifiedAt'],
    'The organization has no domain of its own.',
    (service, page) => service.domains.list(page),
  );
  domains
    .command('show')
    .description('Show a domain with the DNS records to set')
    .argument('<id>', 'dom_…')
    .action(withOrganization(async ({ service, args: [id = ''] }) => domainShown(await service.domains.get(id))));
  domains
    .command('add')
    .description('Add a domain, and show the DNS records to set')
    .argument('<name>', 'example.com')
    .action(
      withOrganization(async ({ service, args: [name = ''] }) => domainShown(await service.domains.create({ name }))),
    );
  domains
    .command('verify')
    .description('Look up the DNS records now')
    .argument('<id>', 'dom_…')
    .action(withOrganization(async ({ service, args: [id = ''] }) => domainShown(await service.domains.verify(id))));
  domains
    .command('catch-all')
    .description('Set the mailbox that gets mail to unknown addresses of a domain')
    .argument('<id>', 'dom_…')
    .argument('[mailbox]', 'mbx_…; none: such mail is refused')
    .action(
      withOrganization(async ({ service, args: [id = '', mailbox] }) =>
        domainShown(await service.domains.update(id, { catchAllMailboxId: mailbox ?? null })),
      ),
    );
  domains
    .command('default')
    .description('Show the default domain of new mailboxes')
    .action(withOrganization(async ({ service }) => shown(await service.domains.default())));
  domains
    .command('reports')
    .description('Show what other hosts report about mail of the domains')
    .argument('[name]', 'example.com')
    .action(
      withOrganization(async ({ service, args: [name] }) =>
        reportsShown(await service.domains.reports(name === undefined ? {} : { domain: name })),
      ),
    );
  addDeletion(domains, 'Delete a domain', 'dom_…', 'is deleted', (service, id) => service.domains.delete(id));
}
