import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { certificateFiles } from '#core/platform/settings/certificate-files.ts';
import type { Settings } from '#core/platform/settings/settings.ts';

const DAY_MS = 86_400_000;
/** ACME clients renew 30 days before the end: at 14 days something is wrong with them. */
export const CERTIFICATE_WARNING_DAYS = 14;

/** Subject of the root that issues development certificates; no client trusts it. */
export const DEVELOPMENT_ROOT_NAME = 'Agent Mailbox development root';

/**
 * Only in production: `untrusted`, a development certificate or one that issued itself; `wrong_name`, it is for other
 * names than MAIL_HOSTNAME.
 */
export type CertificateState = 'ok' | 'expiring' | 'expired' | 'untrusted' | 'wrong_name' | 'unreadable';

/** Whether mail clients accept the certificate of the mail listeners, and how long it is still valid. Never throws. */
export async function checkCertificate(
  settings: Pick<Settings, 'TLS_CERT' | 'TLS_KEY' | 'DATA_DIR' | 'MODE' | 'MAIL_HOSTNAME'>,
  nowMs: number,
): Promise<{ readonly state: CertificateState; readonly expiresAtMs?: number; readonly error?: unknown }> {
  try {
    const certificate = new X509Certificate(await readFile(certificateFiles(settings).certFile));
    const expiresAtMs = certificate.validToDate.getTime();
    const leftMs = expiresAtMs - nowMs;
    const refused = settings.MODE === 'production' ? refusedBecause(certificate, settings.MAIL_HOSTNAME) : undefined;
    const soon = leftMs < CERTIFICATE_WARNING_DAYS * DAY_MS ? 'expiring' : 'ok';
    return { state: leftMs <= 0 ? 'expired' : (refused ?? soon), expiresAtMs };
  } catch (error) {
    return { state: 'unreadable', error };
  }
}

/** Why clients refuse a certificate, whatever its dates. Roots of an organization's own count as trusted. */
function refusedBecause(certificate: X509Certificate, hostname: string): 'untrusted' | 'wrong_name' | undefined {
  const isDevelopment = certificate.issuer.split('\n').includes(`CN=${DEVELOPMENT_ROOT_NAME}`);
  if (isDevelopment || certificate.verify(certificate.publicKey)) return 'untrusted';
  const matches = isIP(hostname) === 0 ? certificate.checkHost(hostname) : certificate.checkIP(hostname);
  return matches === undefined ? 'wrong_name' : undefined;
}
