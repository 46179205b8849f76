/**
 * The certificate of the mail listeners as files in `DATA_DIR/tls`, while it comes by ACME: the newest of the database,
 * or, before the first one, one that the process makes itself, since an order must not hold up a start. A reader of
 * the files takes a new certificate without a restart.
 */
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import { certificateFiles } from '#core/platform/settings/settings.ts';
import { readCertificates } from './acme-orders.ts';
import { makeCertificate } from './x509-certificate.ts';

type FileServices = Pick<Services, 'db' | 'secrets' | 'settings' | 'log'>;

const LOOK_MS = 5_000;
/** Of a certificate that nobody trusts. */
const PROVISIONAL_DAYS = 30;

function hasFile(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

/** No reader ever sees half of a file; the key comes first, and a pair that does not fit is not taken. */
async function writePair({ certFile, keyFile }: ReturnType<typeof certificateFiles>, chain: string, key: string) {
  await mkdir(path.dirname(certFile), { recursive: true, mode: 0o700 });
  for (const [file, content] of [
    [keyFile, key],
    [certFile, chain],
  ] as const) {
    await writeFile(`${file}.${process.pid}`, content, { mode: 0o600 });
    await rename(`${file}.${process.pid}`, file);
  }
}

/** Writes the files if they are not those of the database. Without ACME it does nothing. */
async function renewFiles(services: FileServices): Promise<void> {
  const { settings, log } = services;
  const files = certificateFiles(settings);
  const [stored] = await readCertificates(services, [settings.MAIL_HOSTNAME.toLowerCase()]);
  if (stored === undefined) return;
  const current = await readFile(files.certFile, 'utf8').catch(() => '');
  if (current === stored.chain) return;
  await writePair(files, stored.chain, stored.key);
  log.info({ certFile: files.certFile }, 'wrote the certificate that was issued last');
}

/** Before the files are read first: they exist afterwards. Without ACME it does nothing. */
export async function prepareCertificateFiles(services: FileServices): Promise<void> {
  const { settings, log } = services;
  if (settings.ACME_DIRECTORY === undefined) return;
  await renewFiles(services).catch((error: unknown) =>
    log.warn({ reason: reasonOf(error) }, 'the stored certificate could not be read; it is tried again'),
  );
  const files = certificateFiles(settings);
  if (hasFile(files.certFile) && hasFile(files.keyFile)) return;
  const host = settings.MAIL_HOSTNAME;
  const { certPem, keyPem } = makeCertificate({ commonName: host, validDays: PROVISIONAL_DAYS, dnsNames: [host] });
  await writePair(files, certPem, keyPem);
  log.info({ certFile: files.certFile }, 'made a provisional certificate, until one is issued');
}

/** Looks at the database from time to time, after `prepareCertificateFiles`. */
export function keepCertificateFiles(services: FileServices): { close(): Promise<void> } {
  if (services.settings.ACME_DIRECTORY === undefined) return { close: async () => {} };
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(() =>
      renewFiles(services).catch((error: unknown) =>
        services.log.debug({ reason: reasonOf(error) }, 'the stored certificate could not be read; it is tried again'),
      ),
    );
  }, LOOK_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
