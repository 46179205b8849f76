import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { certificateFiles } from './certificate-files.ts';
import type { Settings } from './settings.ts';

const DAY_MS = 86_400_000;
/** ACME clients renew 30 days before the end: at 14 days something is wrong with them. */
export const CERTIFICATE_WARNING_DAYS = 14;

export type CertificateState = 'ok' | 'expiring' | 'expired' | 'unreadable';

/** How long the certificate of the mail listeners is still valid. Never throws. */
export async function checkCertificate(
  settings: Pick<Settings, 'TLS_CERT' | 'TLS_KEY' | 'DATA_DIR'>,
  nowMs: number,
): Promise<{ readonly state: CertificateState; readonly expiresAtMs?: number; readonly error?: unknown }> {
  try {
    const expiresAtMs = new X509Certificate(await readFile(certificateFiles(settings).certFile)).validToDate.getTime();
    const leftMs = expiresAtMs - nowMs;
    const state = leftMs <= 0 ? 'expired' : leftMs < CERTIFICATE_WARNING_DAYS * DAY_MS ? 'expiring' : 'ok';
    return { state, expiresAtMs };
  } catch (error) {
    return { state: 'unreadable', error };
  }
}
