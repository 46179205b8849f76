import type { Services } from '../core/services.ts';
import { type AuthenticatorOptions, openAuthenticator } from './authenticate.ts';
import { type ClientDoors, type ClientDoorsOptions, type DoorAddress, openClientDoors } from './client-doors.ts';
import { type InboundDoor, type InboundOptions, openInbound } from './smtp/inbound.ts';
import { openSubmission, type SubmissionDoors, type SubmissionOptions } from './smtp/submission.ts';
import { openMailStore } from './store/mail-store.ts';
import { openMailNotifier } from './store/notifier.ts';
import { openCertificate, tlsContext } from './tls.ts';

export interface MailDoors
  extends Omit<ClientDoors, 'close'>,
    Pick<SubmissionDoors, 'submission' | 'submissionStarttls'> {
  readonly smtp: DoorAddress;
  /** No new connections; messages in flight finish within 30 s, commands of mail clients within 10 s. */
  close(): Promise<void>;
}

export type MailOptions = Pick<InboundOptions, 'lookup' | 'connectionsPerSource'> &
  Pick<SubmissionOptions, 'onSubmitted'> & {
    readonly clients?: Pick<ClientDoorsOptions, 'connectionsPerSource'> & Pick<AuthenticatorOptions, 'failureDelayMs'>;
  };

/**
 * Opens the doors of the mail process.
 *
 * @throws {SettingsError} when there is no usable certificate
 * @throws when a port cannot be listened on
 */
export async function startMail(services: Services, options: MailOptions = {}): Promise<MailDoors> {
  const { clients, onSubmitted, ...inbound } = options;
  let smtp: InboundDoor | undefined;
  let doors: ClientDoors | undefined;
  let submission: SubmissionDoors | undefined;
  const certificate = await openCertificate(services.settings, services.log, (pair) => {
    smtp?.useCertificate(pair);
    submission?.useCertificate(pair);
    tls.useCertificate(pair);
  });
  const tls = tlsContext(certificate.current);
  const notifier = openMailNotifier(services);
  const store = openMailStore(services, notifier);
  const authenticator = openAuthenticator({ services, notifier, openStore: store.openMailbox, ...clients });
  const close = async (): Promise<void> => {
    await Promise.all([smtp?.close(), submission?.close(), doors?.close()]);
    authenticator.close();
    await store.close();
    await notifier.close();
    certificate.close();
  };
  try {
    smtp = await openInbound({ services, store, certificate: certificate.current, ...inbound });
    submission = await openSubmission({
      services,
      tls,
      certificate: certificate.current,
      authenticator,
      onSubmitted,
    });
    doors = await openClientDoors({ services, tls, authenticator, ...clients });
    return {
      smtp: { host: smtp.host, port: smtp.port },
      submission: submission.submission,
      submissionStarttls: submission.submissionStarttls,
      imap: doors.imap,
      imapStarttls: doors.imapStarttls,
      pop3: doors.pop3,
      pop3Starttls: doors.pop3Starttls,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
