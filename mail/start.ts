import { keepCertificateFiles, prepareCertificateFiles } from '#core/certificates/certificate-files.ts';
import type { Services } from '#core/platform/process/services.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { openMailStore } from '#mailstore/mail-store.ts';
import { loadCommandRules } from '#mailstore/reading/command-rules-file.ts';
import {
  type ClientListeners,
  type ClientListenersOptions,
  type ListenerAddress,
  openClientListeners,
} from './client-listeners.ts';
import { type AuthenticatorOptions, openAuthenticator } from './login/mailbox-login.ts';
import { type InboundListener, type InboundOptions, openInbound } from './smtp/inbound.ts';
import { openSubmission, type SubmissionListeners, type SubmissionOptions } from './submission/open-submission.ts';
import { openCertificate, tlsContext } from './tls.ts';

export interface MailListeners
  extends Omit<ClientListeners, 'close'>,
    Pick<SubmissionListeners, 'submission' | 'submissionStarttls'> {
  readonly smtp: ListenerAddress;
  /** No new connections; messages in flight finish within 30 s, commands of mail clients within 10 s. */
  close(): Promise<void>;
}

export type MailOptions = Pick<InboundOptions, 'lookup' | 'connectionsPerSource' | 'senderCheckBudgets' | 'onNotices'> &
  Pick<SubmissionOptions, 'onSubmitted'> & {
    readonly clients?: Pick<ClientListenersOptions, 'connectionsPerSource'> &
      Pick<AuthenticatorOptions, 'failureDelayMs'>;
  };

/**
 * Opens the listeners of the mail process.
 *
 * @throws {SettingsError} if there is no usable certificate, or the rules of COMMAND_RULES are wrong
 * @throws when a port cannot be listened on
 */
export async function startMail(services: Services, options: MailOptions = {}): Promise<MailListeners> {
  const { clients, onSubmitted, ...inbound } = options;
  loadCommandRules(services.settings.COMMAND_RULES);
  let smtp: InboundListener | undefined;
  let clientListeners: ClientListeners | undefined;
  let submission: SubmissionListeners | undefined;
  await prepareCertificateFiles(services);
  const certificate = await openCertificate(services.settings, services.log, (pair) => {
    smtp?.useCertificate(pair);
    submission?.useCertificate(pair);
    tls.useCertificate(pair);
  });
  const files = keepCertificateFiles(services);
  const tls = tlsContext(certificate.current);
  const notifier = openMailNotifier(services);
  const store = openMailStore(services, notifier);
  const authenticator = openAuthenticator({ services, notifier, openStore: store.openMailbox, ...clients });
  const close = async (): Promise<void> => {
    await Promise.all([smtp?.close(), submission?.close(), clientListeners?.close()]);
    authenticator.close();
    await store.close();
    await notifier.close();
    certificate.close();
    await files.close();
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
    clientListeners = await openClientListeners({ services, tls, authenticator, ...clients });
    return {
      smtp: { host: smtp.host, port: smtp.port },
      submission: submission.submission,
      submissionStarttls: submission.submissionStarttls,
      imap: clientListeners.imap,
      imapStarttls: clientListeners.imapStarttls,
      pop3: clientListeners.pop3,
      pop3Starttls: clientListeners.pop3Starttls,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
