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
  /** Submission of mail (RFC 8314: implicit TLS). */
  readonly smtp: MailDoor;
}

/** Connection of a mailbox as seen from outside. */
export function mailConnection(settings: Settings, address: string): MailConnection {
  const door = (port: number): MailDoor => ({
    host: settings.MAIL_HOSTNAME,
    port,
    security: 'tls',
    username: address,
  });
  return {
    imap: door(settings.MAIL_PUBLIC_IMAP_PORT),
    pop3: door(settings.MAIL_PUBLIC_POP3_PORT),
    smtp: door(settings.MAIL_PUBLIC_SUBMISSION_PORT),
  };
}
