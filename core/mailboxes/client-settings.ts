import type { Settings } from '#core/platform/settings/settings.ts';

/** Where and how a mail client reaches a mailbox; the password is the mailbox token. */
export interface MailListener {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls';
  readonly username: string;
}

export interface MailConnection {
  readonly imap: MailListener;
  readonly pop3: MailListener;
  /** Submission: sends as the mailbox. */
  readonly smtp: MailListener;
}

/** Ports of mail clients as seen from outside; by TLS from the first byte where the name does not say STARTTLS. */
export const publicListenerPorts = (settings: Settings) => ({
  imapsPort: settings.MAIL_PUBLIC_IMAP_PORT ?? settings.IMAPS_PORT,
  pop3sPort: settings.MAIL_PUBLIC_POP3_PORT ?? settings.POP3S_PORT,
  submissionsPort: settings.MAIL_PUBLIC_SUBMISSION_PORT ?? settings.SUBMISSIONS_PORT,
  submissionStarttlsPort: settings.MAIL_PUBLIC_SUBMISSION_STARTTLS_PORT ?? settings.SUBMISSION_PORT,
});

/** Connection of a mailbox as seen from outside. */
export function mailConnection(settings: Settings, address: string): MailConnection {
  const listener = (port: number): MailListener => ({
    host: settings.MAIL_HOSTNAME,
    port,
    security: 'tls',
    username: address,
  });
  const { imapsPort, pop3sPort, submissionsPort } = publicListenerPorts(settings);
  return { imap: listener(imapsPort), pop3: listener(pop3sPort), smtp: listener(submissionsPort) };
}
