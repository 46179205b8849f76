/**
 * Development certificates: a root of our own and a certificate of this host, stored in `DATA_DIR/tls`.
 *
 * The host's certificate is renewed when its names change or it nears its end; the root does not change, so that
 * clients still trust it. Files: ca.pem, ca.key, host.pem (host and root), host.key.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { makeCertificate } from '#core/certificates/x509-certificate.ts';
import { writeWhole } from '#core/platform/write-file.ts';
import { DEVELOPMENT_ROOT_NAME } from '#core/process/start-checks.ts';

const ROOT_VALID_DAYS = 3_650;
/** Apple's limit for certificates that are to be trusted is 398 days. */
const HOST_VALID_DAYS = 397;
const RENEW_BEFORE_DAYS = 30;
const DAY_MS = 86_400_000;
const LOOPBACK_NAMES = ['localhost'];
const LOOPBACK_ADDRESSES = ['127.0.0.1'];

export interface CertificateFiles {
  readonly caFile: string;
  /** Chain of the host. */
  readonly certFile: string;
  readonly keyFile: string;
}

const lastsUntil = (certPem: string): number => Date.parse(new X509Certificate(certPem).validTo);
const isDue = (certPem: string, nowMs: number): boolean => lastsUntil(certPem) - nowMs < RENEW_BEFORE_DAYS * DAY_MS;

/** Whether a chain file contains a certificate of these names that is valid long enough and was issued by this root. */
function isGood(file: string, names: readonly string[], caPem: string, nowMs: number): boolean {
  try {
    const pem = readFileSync(file, 'utf8');
    const certificate = new X509Certificate(pem);
    const present = new Set((certificate.subjectAltName ?? '').split(', '));
    return (
      !isDue(pem, nowMs) &&
      certificate.verify(new X509Certificate(caPem).publicKey) &&
      names.every((name) => present.has(`DNS:${name}`))
    );
  } catch {
    return false;
  }
}

/** Where `developmentCertificates` writes. */
export function developmentCertificateFiles(folder: string): CertificateFiles & { readonly caKeyFile: string } {
  const file = (name: string) => path.resolve(folder, name);
  return { caFile: file('ca.pem'), caKeyFile: file('ca.key'), certFile: file('host.pem'), keyFile: file('host.key') };
}

/**
 * Root and host certificate, created or renewed if needed.
 *
 * @param names DNS names beyond localhost
 */
export function developmentCertificates(
  folder: string,
  names: readonly string[],
  nowMs = Date.now(),
): CertificateFiles {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { caFile, caKeyFile, certFile, keyFile } = developmentCertificateFiles(folder);
  if (!existsSync(caFile) || !existsSync(caKeyFile) || isDue(readFileSync(caFile, 'utf8'), nowMs)) {
    const root = makeCertificate({ commonName: DEVELOPMENT_ROOT_NAME, validDays: ROOT_VALID_DAYS, isCa: true });
    writeWhole(caKeyFile, root.keyPem, 0o600);
    writeWhole(caFile, root.certPem, 0o644);
  }
  const caPem = readFileSync(caFile, 'utf8');
  // An address is no DNS name.
  const dnsNames = [...new Set([...LOOPBACK_NAMES, ...names.filter((name) => !/^[\d.]+$|:/.test(name))])];
  if (!existsSync(keyFile) || !isGood(certFile, dnsNames, caPem, nowMs)) {
    const host = makeCertificate({
      commonName: dnsNames[0] ?? DEVELOPMENT_ROOT_NAME,
      validDays: HOST_VALID_DAYS,
      dnsNames,
      ipAddresses: LOOPBACK_ADDRESSES,
      issuer: { commonName: DEVELOPMENT_ROOT_NAME, key: createPrivateKey(readFileSync(caKeyFile)) },
    });
    writeWhole(keyFile, host.keyPem, 0o600);
    writeWhole(certFile, host.certPem + caPem, 0o644);
  }
  return { caFile, certFile, keyFile };
}
