/**
 * What is checked before a process serves, and while it does: the disk, the certificate, the secrets keys, and the settings
 * that all processes must have alike.
 */
import { randomBytes, X509Certificate } from 'node:crypto';
import { mkdir, open, readFile, unlink } from 'node:fs/promises';
import { isIP } from 'node:net';
import path from 'node:path';
import type { Services } from '#core/platform/process/services.ts';
import type { SealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { requireAgreedSettings } from '#core/platform/settings/agreed-settings.ts';
import {
  type CertificateSettings,
  certificateFiles,
  type Settings,
  SettingsError,
} from '#core/platform/settings/settings.ts';
import { sealedSamples } from '#core/reseal/reseal.ts';
import type { Sql } from '#db/database.ts';

const PROBE_BYTES = 256 * 1024;

/** `full`: no room for another message; `unwritable`: no right to write, read-only, or broken. */
export type DiskState = 'ok' | 'full' | 'unwritable';

/** Writes and removes a file of 256 KiB where messages are spooled. Never throws. */
export async function checkDisk(folder: string): Promise<{ readonly state: DiskState; readonly error?: unknown }> {
  const file = path.join(folder, `readiness-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const handle = await open(file, 'wx', 0o600);
    try {
      const filling = Buffer.alloc(PROBE_BYTES);
      for (let at = 0; at < filling.length; ) at += (await handle.write(filling, at)).bytesWritten;
    } finally {
      await handle.close();
    }
    return { state: 'ok' };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return { state: code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG' ? 'full' : 'unwritable', error };
  } finally {
    await unlink(file).catch(() => {});
  }
}

/**
 * - `missing_some`: some values are sealed with a key that SECRETS_KEYS lacks; operations that need them fail, the rest
 *   works.
 * - `missing`: there are sealed values, and SECRETS_KEYS has the key of none of them: these keys belong to another
 *   installation.
 */
export type SecretsKeysState = 'ok' | 'missing_some' | 'missing';

/**
 * Opens some sealed values of each key id: another installation may have another key under the same id. Reads every
 * sealed value: not for each request.
 *
 * @returns ids of the keys that SECRETS_KEYS lacks, or has with another value
 */
export async function checkSecretsKeys(
  db: Sql,
  secrets: SealedSecrets,
): Promise<{ readonly state: SecretsKeysState; readonly missingIds: readonly string[] }> {
  const used = Map.groupBy(await sealedSamples(db), ({ keyId }) => keyId);
  // One that opens is enough: a value can be damaged.
  const missingIds = [...used].flatMap(([id, samples]) =>
    samples.some(({ sealed, place }) => opens(secrets, sealed, place)) ? [] : [id],
  );
  if (missingIds.length === 0) return { state: 'ok', missingIds };
  return { state: missingIds.length === used.size ? 'missing' : 'missing_some', missingIds };
}

function opens(secrets: SealedSecrets, sealed: string, place: string): boolean {
  try {
    secrets.open(sealed, place);
    return true;
  } catch {
    return false;
  }
}

const DAY_MS = 86_400_000;
/** ACME clients renew 30 days before the end: at 14 days something is wrong with them. */
const CERTIFICATE_WARNING_DAYS = 14;

/** Subject of the root that issues development certificates; no client trusts it. */
export const DEVELOPMENT_ROOT_NAME = 'Agent Mailbox development root';

/**
 * Only in production: `untrusted`, a development certificate or one that issued itself; `wrong_name`, it is for other
 * names than MAIL_HOSTNAME.
 */
export type CertificateState = 'ok' | 'expiring' | 'expired' | 'untrusted' | 'wrong_name' | 'unreadable';

/** Whether mail clients accept the certificate of the mail listeners, and how long it is still valid. Never throws. */
export async function checkCertificate(
  settings: CertificateSettings & Pick<Settings, 'MODE' | 'MAIL_HOSTNAME'>,
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

/**
 * Whether this process belongs to the installation of its database. Call it before anything is listened on, sent or
 * started.
 *
 * @throws {SettingsError} if it has the keys or settings of another one
 */
export async function requireOwnInstallation(services: Pick<Services, 'db' | 'secrets' | 'settings'>): Promise<void> {
  await requireAgreedSettings(services.db, services.settings);
  await requireOwnSecretsKeys(services);
}

/**
 * Some missing keys are a warning of `/readyz`, because everything else works.
 *
 * @throws {SettingsError} if no sealed value of the database can be opened
 */
export async function requireOwnSecretsKeys({ db, secrets }: Pick<Services, 'db' | 'secrets'>): Promise<void> {
  const { state, missingIds } = await checkSecretsKeys(db, secrets);
  if (state === 'missing')
    throw new SettingsError([
      `SECRETS_KEYS has the keys of another installation: no secret in this database was sealed with one of them. ` +
        `Set the keys of this one, or DATABASE_URL to its database (needed: ${missingIds.map((id) => `"${id}"`).join(', ')})`,
    ]);
}
