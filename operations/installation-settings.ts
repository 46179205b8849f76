/** The settings of a new installation, from a few answers; and the file that has them. Pure but for random secrets. */
import { randomBytes } from 'node:crypto';
import type { Form } from '#core/platform/settings/setting-forms.ts';
import { SETTINGS } from '#core/platform/settings/settings.ts';
import { settingsLines } from '#core/platform/settings/settings-file.ts';
import { domainNameProblem } from '#domain/mail/domain-names.ts';
import { newSecrets } from './secrets-file.ts';

export const domainName: Form<string> = {
  takes: 'a domain name, such as agents.example.org',
  parse(value) {
    const name = value.trim().toLowerCase().replace(/\.$/, '');
    return domainNameProblem(name) === undefined ? name : undefined;
  },
};
export const emailAddress: Form<string> = {
  takes: 'an email address',
  parse: (value) => (/^[^\s@'"]+@[^\s@'"]+\.[^\s@'"]+$/.test(value.trim()) ? value.trim() : undefined),
};

/** What `setup` asks. */
export interface Answers {
  readonly domain: string;
  readonly host: string;
  readonly send: 'direct' | 'relay' | 'none';
  /** With `relay`. */
  readonly relay?: { readonly host: string; readonly port: number; readonly user?: string; readonly password?: string };
  readonly owner?: string | undefined;
  readonly publicUrl: string;
  /** `own`: PostgreSQL and Temporal of the operator; `embedded`: those of `npm start`; `compose`: docker-compose.yml. */
  readonly servers:
    | { readonly kind: 'own'; readonly databaseUrl: string; readonly temporalAddress: string }
    | { readonly kind: 'embedded' | 'compose' };
  readonly certificate?: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Address of this machine that the mail listeners are bound to. */
  readonly listenOn: string;
  /** Directory of an authority that issues certificates by ACME. */
  readonly acme?: string | undefined;
  /** Listen on 25, 465, …; otherwise on the high ports of the defaults, which must be mapped. */
  readonly standardPorts: boolean;
  readonly dataDir: string;
}

const STANDARD_PORTS = {
  SMTP_PORT: '25',
  SUBMISSIONS_PORT: '465',
  SUBMISSION_PORT: '587',
  IMAPS_PORT: '993',
  IMAP_PORT: '143',
  POP3S_PORT: '995',
  POP3_PORT: '110',
};
/** Of listeners that are mapped to the standard ports: what clients are told. */
const MAPPED_PORTS = {
  MAIL_PUBLIC_SUBMISSION_PORT: '465',
  MAIL_PUBLIC_SUBMISSION_STARTTLS_PORT: '587',
  MAIL_PUBLIC_IMAP_PORT: '993',
  MAIL_PUBLIC_POP3_PORT: '995',
};

/** Settings that are not set at all in another kind of installation. */
export const settingsOfKind = [
  ...Object.keys(STANDARD_PORTS),
  ...Object.keys(MAPPED_PORTS),
  'DATABASE_URL',
  'TEMPORAL_ADDRESS',
  'ACME_DIRECTORY',
  'ACME_EMAIL',
  'API_TLS_PORT',
];

/** `smtp://user:password@host:587`; on port 465 with TLS from the first byte. */
export function relayUrl({ host, port, user, password }: NonNullable<Answers['relay']>): string {
  // encodeURIComponent leaves the quote, which a settings file cannot have.
  const encoded = (text: string) => encodeURIComponent(text).replaceAll("'", '%27');
  const login = user === undefined ? '' : `${encoded(user)}${password === undefined ? '' : `:${encoded(password)}`}@`;
  return `${port === 465 ? 'smtps' : 'smtp'}://${login}${host}:${port}`;
}

/** As environment variables, without the secrets that are made once. */
export function settingsOfAnswers(answers: Answers): Record<string, string> {
  const { domain, host, send, relay, owner, publicUrl, servers, certificate, acme } = answers;
  const { listenOn, standardPorts, dataDir } = answers;
  const inContainers = servers.kind === 'compose';
  return {
    // docker-compose.yml sets the others itself.
    ...(inContainers ? {} : { MODE: 'production', DATA_DIR: dataDir, MAIL_HOST: listenOn }),
    ...(servers.kind === 'own' ? { DATABASE_URL: servers.databaseUrl, TEMPORAL_ADDRESS: servers.temporalAddress } : {}),
    MAIL_DOMAIN: domain,
    MAIL_HOSTNAME: host,
    API_PUBLIC_URL: publicUrl,
    ...(owner === undefined ? {} : { OWNER_EMAIL: owner }),
    OUTBOUND_TRANSPORT: send === 'direct' ? 'mx' : send === 'relay' ? 'relay' : 'capture',
    ...(send === 'relay' && relay !== undefined ? { OUTBOUND_RELAY_URL: relayUrl(relay) } : {}),
    ...(inContainers ? {} : standardPorts ? STANDARD_PORTS : MAPPED_PORTS),
    ...(acme === undefined ? {} : { ACME_DIRECTORY: acme, ...(owner === undefined ? {} : { ACME_EMAIL: owner }) }),
    ...(acme === undefined || inContainers || !standardPorts ? {} : { API_TLS_PORT: '443' }),
    ...(certificate === undefined ? {} : { TLS_CERT: certificate.certFile, TLS_KEY: certificate.keyFile }),
    ...(certificate === undefined && servers.kind === 'own'
      ? { TLS_CERT: `${dataDir}/tls/host.pem`, TLS_KEY: `${dataDir}/tls/host.key` }
      : {}),
  };
}

/** Names of the secrets that are made once and kept for ever, with new values. */
export function freshSecrets(inContainers: boolean): Record<string, string> {
  const { secretsKeys, credentialPepper, operatorKey } = newSecrets();
  return {
    SECRETS_KEYS: secretsKeys,
    CREDENTIAL_PEPPER: credentialPepper,
    OPERATOR_KEY: operatorKey,
    ...(inContainers ? { POSTGRES_PASSWORD: randomBytes(24).toString('hex') } : {}),
  };
}

const HEAD = `# Settings of Agent Mailbox, written by \`agent-mailbox-admin setup\`. All of them: docs/configuration.md
# Keep a copy of this file apart from the backups of the database: without SECRETS_KEYS the secrets there cannot be opened.
`;

/** Text of the file. @throws {SettingsError} if a value cannot be written */
export function settingsText(values: Readonly<Record<string, string>>, secrets: ReadonlySet<string>): string {
  const [secret, open] = [true, false].map((is) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => secrets.has(name) === is)),
  );
  return `${HEAD}\n${settingsLines(open ?? {}).join('\n')}\n\n# Secrets\n${settingsLines(secret ?? {}).join('\n')}\n`;
}

/** Whether a value must not be shown. */
export const isSecretSetting = (name: string): boolean =>
  name === 'POSTGRES_PASSWORD' ||
  Object.entries(SETTINGS).some(([each, setting]) => each === name && 'secret' in setting && setting.secret);
