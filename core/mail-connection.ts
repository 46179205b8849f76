import type { Settings } from './settings.ts';

/** Where and how a mail client reaches a mailbox; the password is the mailbox token. */
export interface MailDoor {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls';
  readonly username: string;
}

export interface MailConnection {
  readonly imap: MailDoor;
  readonly pop3: MailDoor;
  /** Submission: sends as the mailbox. */
  readonly smtp: MailDoor;
}

/** Ports of mail clients as seen from outside; by TLS from the first byte where the name does not say STARTTLS. */
export const publicDoorPorts = (settings: Settings) => ({
  imapsPort: settings.MAIL_PUBLIC_IMAP_PORT ?? settings.IMAPS_PORT,
  pop3sPort: settings.MAIL_PUBLIC_POP3_PORT ?? settings.POP3S_PORT,
  submissionsPort: settings.MAIL_PUBLIC_SUBMISSION_PORT ?? settings.SUBMISSIONS_PORT,
  submissionStarttlsPort: settings.MAIL_PUBLIC_SUBMISSION_STARTTLS_PORT ?? settings.SUBMISSION_PORT,
});

/** Connection of a mailbox as seen from outside. */
export function mailConnection(settings: Settings, address: string): MailConnection {
  const door = (port: number): MailDoor => ({
    host: settings.MAIL_HOSTNAME,
    port,
    security: 'tls',
    username: address,
  });
  const { imapsPort, pop3sPort, submissionsPort } = publicDoorPorts(settings);
  return { imap: door(imapsPort), pop3: door(pop3sPort), smtp: door(submissionsPort) };
}
