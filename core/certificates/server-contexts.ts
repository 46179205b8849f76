/** TLS of a server with several names (SNI): each has its certificate from the database, and a new one is taken by itself. */
import tls from 'node:tls';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import { readCertificates, servedNames } from './acme-orders.ts';
import { makeCertificate } from './x509-certificate.ts';

const LOOK_MS = 5_000;
const PROVISIONAL_DAYS = 30;

export interface ServerContexts {
  /** Options of the server: for names without a certificate it has a provisional one. */
  readonly options: Pick<tls.TlsOptions, 'cert' | 'key' | 'minVersion' | 'SNICallback'>;
  close(): Promise<void>;
}

/** Resolves when the certificates of the database are known, or cannot be read. */
export async function openServerContexts(
  services: Pick<Services, 'db' | 'secrets' | 'settings' | 'log'>,
): Promise<ServerContexts> {
  const { settings, log } = services;
  const contexts = new Map<string, { readonly chain: string; readonly context: tls.SecureContext }>();

  async function look(): Promise<void> {
    try {
      for (const { name, chain, key } of await readCertificates(services, await servedNames(services.db, settings)))
        if (contexts.get(name)?.chain !== chain)
          contexts.set(name, { chain, context: tls.createSecureContext({ cert: chain, key }) });
    } catch (error) {
      log.debug({ reason: reasonOf(error) }, 'certificates could not be read; it is tried again');
    }
  }
  await look();
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(look);
  }, LOOK_MS).unref();
  const host = settings.MAIL_HOSTNAME;
  const provisional = makeCertificate({ commonName: host, validDays: PROVISIONAL_DAYS, dnsNames: [host] });
  return {
    options: {
      cert: provisional.certPem,
      key: provisional.keyPem,
      minVersion: 'TLSv1.2',
      SNICallback: (name, found) => found(null, contexts.get(name.toLowerCase())?.context),
    },
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
