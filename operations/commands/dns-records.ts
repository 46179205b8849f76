/** `dns-records`: what DNS must have for this installation. */
import { publishedDkimKeys } from '#core/mailboxes/dkim-keys.ts';
import { instanceDkimKey } from '#core/mailboxes/domain-records.ts';
import { command } from '#operations/command.ts';
import { installationRecords, recordsText } from '#operations/dns.ts';

export const dnsRecordsCommand = command({
  name: 'dns-records',
  summary: 'print every DNS record of the installation, with what DNS has now',
  description:
    'Prints the records of MAIL_DOMAIN and MAIL_HOSTNAME as lines of a zone file, then a table with what DNS has now: found (✔), missing or wrong (✖), or no answer (·). Makes the DKIM key of MAIL_DOMAIN if the database has none; during a rotation (`dkim rotate`) there are two DKIM records, and both must be in DNS. Those that are not required are recommended. Domains of customers have their records in the dashboard.',
  arguments: {},
  options: {},
  async run(context) {
    const services = await context.services();
    const key = await instanceDkimKey(services);
    const others = await publishedDkimKeys(services.db, null);
    const records = await installationRecords(services.settings, key, others);
    context.output({ records }, recordsText(records, services.settings, true));
    return 'done';
  },
});
