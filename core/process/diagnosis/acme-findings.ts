/** Certificates by ACME: what was issued, and orders that fail. */
import { certificateNames, listCertificates } from '#core/certificates/acme-orders.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Sql } from '#db/database.ts';
import { type Finding, findingsOf } from './finding.ts';

const DAY_MS = 86_400_000;
const ERROR_DAYS = 7;

const { ok, note, warning, error } = findingsOf('certificate');

export async function acmeFindings(db: Sql, settings: Settings, nowMs: number): Promise<Finding[]> {
  const names = certificateNames(settings);
  if (names.length === 0) return [];
  const known = new Map((await listCertificates(db)).map((each) => [each.name, each]));
  return names.map((name) => {
    const certificate = known.get(name);
    const expiresAt = certificate?.expiresAt ?? undefined;
    const leftDays = expiresAt === undefined ? undefined : Math.floor((expiresAt.getTime() - nowMs) / DAY_MS);
    const has =
      leftDays === undefined
        ? `${name} has no certificate yet`
        : `The certificate of ${name} is valid for ${leftDays} days`;
    if (certificate === undefined || (leftDays === undefined && certificate.failures === 0))
      return note(`${has}: it is ordered when the service runs.`);
    if (certificate.failures === 0) return ok(`${has}; it is renewed from ${day(certificate.orderAt)} on.`);
    const report = leftDays === undefined || leftDays < ERROR_DAYS ? error : warning;
    return report(
      `${has}, and ${certificate.failures} orders failed, the last one ${certificate.failedAt?.toISOString() ?? ''}: ${certificate.failure ?? ''}.`,
      `Let ${name} lead to this installation, port 80 (ACME_HTTP_PORT) be open to everybody, and a CAA record of the domain, if there is one, allow the authority. The next order is due ${certificate.orderAt.toISOString()}; \`agent-mailbox-admin certificates order\` orders at once.`,
    );
  });
}

const day = (date: Date): string => date.toISOString().slice(0, 10);
