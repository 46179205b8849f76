/** `DATA_DIR/service.json`, mode 0600: a started service in one file, for scripts. There while the service is ready. */
import { rmSync } from 'node:fs';
import { writeWhole } from './write-file.ts';

/** How a mail client reaches a door of the mail host. */
export interface MailDoor {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls';
}

export interface ServiceFacts {
  readonly apiUrl: string;
  readonly email: string | null;
  readonly password: string | null;
  readonly apiKey: string | null;
  readonly organizationId: string;
  readonly smtp: MailDoor;
  readonly submission: MailDoor | null;
  readonly submissionStarttls: MailDoor | null;
  readonly imap: MailDoor | null;
  readonly imapStarttls: MailDoor | null;
  readonly pop3: MailDoor | null;
  readonly pop3Starttls: MailDoor | null;
  readonly temporalAddress: string;
  readonly temporalUiUrl: string | null;
  readonly databaseUrl: string;
  readonly caFile: string | null;
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
}

/** @returns removes the file again */
export function writeServiceFile(file: string, facts: ServiceFacts): () => void {
  writeWhole(file, `${JSON.stringify(facts, null, 2)}\n`, 0o600);
  return () => rmSync(file, { force: true });
}
