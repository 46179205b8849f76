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
  /** Takes mail for the mailboxes of this instance, from anybody. */
  readonly smtp: MailDoor;
}

/** Ports of the doors by TLS from the first byte, as seen from outside. */
export const publicDoorPorts = (settings: Settings) => ({
  imapsPort: settings.MAIL_PUBLIC_IMAP_PORT ?? settings.IMAPS_PORT,
  pop3sPort: settings.MAIL_PUBLIC_POP3_PORT ?? settings.POP3S_PORT,
});

/** Connection of a mailbox as seen from outside. */
export function mailConnection(settings: Settings, address: string): MailConnection {
  const door = (port: number, security: MailDoor['security']): MailDoor => ({
    host: settings.MAIL_HOSTNAME,
    port,
    security,
    username: address,
  });
  const { imapsPort, pop3sPort } = publicDoorPorts(settings);
  return {
    imap: door(imapsPort, 'tls'),
    pop3: door(pop3sPort, 'tls'),
    smtp: door(settings.MAIL_PUBLIC_SMTP_PORT ?? settings.SMTP_PORT, 'starttls'),
  };
}
