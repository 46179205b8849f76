import type { Services } from '../core/services.ts';
import { type InboundOptions, openInbound } from './smtp/inbound.ts';
import { openMailStore } from './store/mail-store.ts';
import { openMailNotifier } from './store/notifier.ts';
import { openCertificate } from './tls.ts';

export interface MailDoors {
  readonly smtp: { readonly host: string; readonly port: number };
  /** No new connections; messages in flight finish within 30 s. */
  close(): Promise<void>;
}

/**
 * Opens the doors of the mail process.
 *
 * @throws {SettingsError} when there is no usable certificate
 * @throws when a port cannot be listened on
 */
export async function startMail(
  services: Services,
  options: Pick<InboundOptions, 'lookup' | 'connectionsPerSource'> = {},
): Promise<MailDoors> {
  let useCertificate: (pair: { cert: Buffer; key: Buffer }) => void = () => {};
  const certificate = await openCertificate(services.settings, services.log, (pair) => useCertificate(pair));
  const notifier = openMailNotifier(services);
  const store = openMailStore(services, notifier);
  try {
    const smtp = await openInbound({ services, store, certificate: certificate.current, ...options });
    useCertificate = smtp.useCertificate;
    return {
      smtp: { host: smtp.host, port: smtp.port },
      async close() {
        await smtp.close();
        await store.close();
        await notifier.close();
        certificate.close();
      },
    };
  } catch (error) {
    certificate.close();
    await store.close();
    await notifier.close();
    throw error;
  }
}
