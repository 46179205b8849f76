/** `DATA_DIR/service.json`, mode 0600: a started service in one file, for scripts. There while the service is ready. */
import { rmSync } from 'node:fs';
import { writeWhole } from './write-file.ts';

/** How a mail client reaches a listener of the mail host. */
export interface MailListener {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls';
}

/** Listeners of the mail host and their security. */
export const LISTENER_SECURITY = {
  smtp: 'starttls',
  submission: 'tls',
  submissionStarttls: 'starttls',
  imap: 'tls',
  imapStarttls: 'starttls',
  pop3: 'tls',
  pop3Starttls: 'starttls',
} as const satisfies Record<string, MailListener['security']>;
export type ListenerName = keyof typeof LISTENER_SECURITY;

/** Open listeners; null if there is none. */
export type MailListenerFacts = { readonly [Name in ListenerName]: MailListener | null };

export interface ServiceFacts extends MailListenerFacts {
  readonly apiUrl: string;
  readonly email: string | null;
  readonly password: string | null;
  readonly apiKey: string | null;
  readonly organizationId: string;
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
