/** `DATA_DIR/service.json`, mode 0600: a started service in one file, for scripts. There while the service is ready. */
import { rmSync } from 'node:fs';
import { SETTINGS, type Settings } from '#core/platform/settings/settings.ts';
import { writeWhole } from '#core/platform/write-file.ts';

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
  /** Given and chosen settings, as environment variables, for commands of the operator. */
  readonly settings: Readonly<Record<string, string>>;
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
}

/**
 * The name that the certificate of the mail listeners has, and that mail clients are given (`core/mailboxes/client-settings.ts`).
 * Some clients compare names only, so an address would not do.
 */
function clientHost({ MAIL_HOST, MAIL_HOSTNAME }: Settings): string {
  const isOnlyHere = MAIL_HOST === 'localhost' || MAIL_HOST === '::1' || MAIL_HOST.startsWith('127.');
  const isAnywhere = MAIL_HOST === '0.0.0.0' || MAIL_HOST === '::';
  // Nothing listens on loopback.
  return MAIL_HOSTNAME === 'localhost' && !isOnlyHere && !isAnywhere ? MAIL_HOST : MAIL_HOSTNAME;
}

/** @param listeners those that are open, with their ports */
export function listenerFacts(
  listeners: Partial<Record<ListenerName, { readonly port: number }>>,
  settings: Settings,
): MailListenerFacts {
  const host = clientHost(settings);
  const facts = Object.entries(LISTENER_SECURITY).map(([name, security]) => {
    const listener = listeners[name as ListenerName];
    return [name, listener === undefined ? null : { host, port: listener.port, security }] as const;
  });
  // One entry for each name of LISTENER_SECURITY, as the type says.
  return Object.fromEntries(facts) as MailListenerFacts;
}

/** They are in `secrets.json`, or were given on purpose to the process alone. */
const NOT_WRITTEN = ['SECRETS_KEYS', 'CREDENTIAL_PEPPER', 'OPERATOR_KEY', 'OWNER_PASSWORD'];

/** Those of our settings that the file contains. */
export const writtenSettings = (values: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.keys(SETTINGS).flatMap((name) => {
      const value = NOT_WRITTEN.includes(name) ? undefined : values[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** @returns removes the file again */
export function writeServiceFile(file: string, facts: ServiceFacts): () => void {
  writeWhole(file, `${JSON.stringify(facts, null, 2)}\n`, 0o600);
  return () => rmSync(file, { force: true });
}
