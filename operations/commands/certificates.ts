/** `certificates …`: those that come by ACME. */
import { listCertificates, orderDueCertificates, servedNames } from '#core/certificates/acme-orders.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Sql } from '#db/database.ts';
import { CommandError, command } from '#operations/command.ts';

const POOL_MAX = 1;

/** One name, for JSON. */
interface ShownCertificate {
  readonly name: string;
  readonly expiresAt: Date | null;
  /** When it is ordered next. */
  readonly orderAt: Date | null;
  readonly failures: number;
  readonly failure: string | null;
}

async function shown(sql: Sql, settings: Settings): Promise<ShownCertificate[]> {
  const known = new Map((await listCertificates(sql)).map((each) => [each.name, each]));
  return (await servedNames(sql, settings)).map((name) => {
    const { expiresAt = null, orderAt = null, failures = 0, failure = null } = known.get(name) ?? {};
    return { name, expiresAt, orderAt, failures, failure };
  });
}

const asText = (certificates: readonly ShownCertificate[]): string =>
  certificates
    .map(({ name, expiresAt, orderAt, failures, failure }) =>
      [
        `${name}  ${expiresAt === null ? 'none yet' : `valid until ${expiresAt.toISOString()}`}`,
        `${orderAt === null ? '' : `, next order ${orderAt.toISOString()}`}`,
        `${failures === 0 ? '' : `\n  ${failures} orders failed: ${failure}`}`,
      ].join(''),
    )
    .join('\n');

function requireAcme(settings: Settings): void {
  if (settings.ACME_DIRECTORY === undefined)
    throw new CommandError('ACME_DIRECTORY is not set: certificates come from files (TLS_CERT)');
}

export const listCertificatesCommand = command({
  name: 'certificates list',
  summary: 'list the certificates that come by ACME, and orders that fail',
  description:
    'Lists each name that this installation serves with the end of its certificate, its next order, and why the last order failed. Changes nothing. Findings: an order failed.',
  arguments: {},
  options: {},
  examples: ['certificates list --json'],
  async run(context) {
    const settings = context.settings('DATABASE_URL');
    requireAcme(settings);
    const certificates = await shown(await context.database(POOL_MAX), settings);
    context.output({ certificates }, asText(certificates));
    return certificates.some(({ failures }) => failures > 0) ? 'findings' : 'done';
  },
});

export const orderCertificatesCommand = command({
  name: 'certificates order',
  summary: 'order certificates now that are missing, failed, or due',
  description:
    'Orders at once what is missing or due, and what failed without waiting for its next turn; certificates that are not due are left. The service must run, because its listener on port 80 (ACME_HTTP_PORT) answers the authority. Without this command certificates are ordered and renewed by themselves. Authorities limit how often a name may fail in an hour. Findings: an order failed.',
  arguments: {},
  options: {},
  examples: ['certificates order'],
  async run(context) {
    const services = await context.services();
    requireAcme(services.settings);
    await services.db.query(`update acme_certificate set order_at = now() where failures > 0`);
    const issued = await context.progress.step('Orders', () => orderDueCertificates(services, context.signal));
    const certificates = await shown(services.db, services.settings);
    context.output({ issued, certificates }, asText(certificates));
    return certificates.some(({ failures }) => failures > 0) ? 'findings' : 'done';
  },
});
