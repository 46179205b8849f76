/**
 * All settings of the service, in one table. `docs/configuration.md` is generated from it (`npm run docs`), and a
 * wrong value stops the start with the setting's name and what it takes.
 *
 * Values come from environment variables. An empty variable counts as unset.
 */
import ipaddr from 'ipaddr.js';
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../domain/credential-format.ts';
import { type CapabilityHiding, parseCapabilityHiding } from '../domain/imap-capabilities.ts';
import { RETRY_DELAYS_MS } from '../domain/retry-ladder.ts';
import type { SecretsKey } from './sealed-secrets.ts';

/** Says in words what is wrong with a setting. */
export class SettingsError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`wrong settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

interface Setting<Value> {
  readonly group: SettingGroup;
  /** Meaning, unit, and when to change it. */
  readonly text: string;
  /** What the value may be, for the document and the error message. */
  readonly takes: string;
  /** Text form of the default; undefined: unset. */
  readonly fallback?: string;
  readonly secret?: boolean;
  /** Returns undefined when the text is not of the form `takes` describes. */
  parse(text: string): Value | undefined;
}

export const SETTING_GROUPS = ['Process', 'PostgreSQL', 'Temporal', 'API', 'Secrets', 'Mail', 'Webhooks'] as const;
export type SettingGroup = (typeof SETTING_GROUPS)[number];

type Form<Value> = Pick<Setting<Value>, 'takes' | 'parse'>;

const text: Form<string> = { takes: 'text', parse: (value) => value };
const flag: Form<boolean> = {
  takes: '`true` or `false`',
  parse: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
};
const integer = (min: number, max: number): Form<number> => ({
  takes: `a whole number from ${min} to ${max}`,
  parse(value) {
    const number = Number(value);
    return /^\d+$/.test(value) && number >= min && number <= max ? number : undefined;
  },
});
const port = integer(0, 65_535);
const password: Form<string> = {
  takes: `${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters`,
  parse: (value) => (value.length >= PASSWORD_MIN_LENGTH && value.length <= PASSWORD_MAX_LENGTH ? value : undefined),
};
const choice = <const Value extends string>(...values: readonly Value[]): Form<Value> => ({
  takes: values.map((value) => `\`${value}\``).join(' or '),
  parse: (value) => values.find((each) => each === value),
});
const url = (...protocols: string[]): Form<string> => ({
  takes: `a URL starting with ${protocols.map((protocol) => `\`${protocol}//\``).join(' or ')}`,
  parse: (value) => (URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : undefined),
});
const list: Form<readonly string[]> = {
  takes: 'a list separated by commas',
  parse: (value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
};
const cidrs: Form<readonly string[]> = {
  takes: 'CIDR ranges separated by commas',
  parse(value) {
    const ranges = list.parse(value) ?? [];
    return ranges.every((range) => ipaddr.isValidCIDR(range)) ? ranges : undefined;
  },
};
const milliseconds: Form<readonly number[]> = {
  takes: 'whole numbers separated by commas',
  parse(value) {
    const numbers = (list.parse(value) ?? []).map(Number);
    return numbers.every((number) => Number.isInteger(number) && number >= 0) ? numbers : undefined;
  },
};
const fourWaits: Form<readonly number[]> = {
  takes: 'four whole numbers separated by commas',
  parse(value) {
    const waits = milliseconds.parse(value);
    return waits?.length === 0 || waits?.length === RETRY_DELAYS_MS.length ? waits : undefined;
  },
};
const capabilityHiding: Form<readonly CapabilityHiding[]> = {
  takes:
    '`<client>: <capability> …`, several separated by `;`, where `*` in the client stands for any text and each capability is one of those in docs/mail.md except IMAP4rev1, STARTTLS and LOGINDISABLED',
  parse: parseCapabilityHiding,
};
const KEY_BYTES = 32;
const secretBytes: Form<Buffer> = {
  takes: `base64 of at least ${KEY_BYTES} random bytes (\`openssl rand -base64 ${KEY_BYTES}\`)`,
  parse(value) {
    const bytes = Buffer.from(value, 'base64');
    return bytes.length >= KEY_BYTES ? bytes : undefined;
  },
};
const secretKeys: Form<readonly SecretsKey[]> = {
  takes: `\`<id>:<base64 of ${KEY_BYTES} random bytes>\`, several separated by commas, the newest first`,
  parse(value) {
    const keys = value.split(',').map((item) => {
      const [, id = '', encoded = ''] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_=-]+)$/.exec(item.trim()) ?? [];
      return { id, key: Buffer.from(encoded, 'base64') };
    });
    return keys.every(({ id, key }) => id !== '' && key.length === KEY_BYTES) ? keys : undefined;
  },
};

const setting = <Value, const Rest extends Omit<Setting<Value>, 'takes' | 'parse'>>(form: Form<Value>, rest: Rest) => ({
  ...form,
  ...rest,
});

export const SETTINGS = {
  MODE: setting(choice('development', 'production'), {
    group: 'Process',
    fallback: 'development',
    text: 'In `production` the service refuses development conveniences: made-up secrets, WEBHOOK_ALLOW_DESTINATIONS and WEBHOOK_EXTRA_CA.',
  }),
  DATA_DIR: setting(text, {
    group: 'Process',
    fallback: '.data',
    text: 'Folder for everything `npm start` keeps: embedded PostgreSQL, Temporal, secrets, certificates, `service.json`.',
  }),
  LOG_LEVEL: setting(choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    group: 'Process',
    fallback: 'info',
    text: 'Least severe log line that is written. Logs are JSON lines on standard error; `npm start` writes them to `DATA_DIR/service.log`.',
  }),
  METRICS_PORT: setting(port, {
    group: 'Process',
    fallback: '9464',
    text: 'Port of `/metrics` (Prometheus), `/healthz` and `/readyz` of each process, on API_HOST. 0 switches it off.',
  }),
  OWNER_EMAIL: setting(text, {
    group: 'Process',
    text: 'Address the owner of the first organization signs in with. Unset: owner@MAIL_DOMAIN. Only read while there is no organization.',
  }),
  OWNER_PASSWORD: setting(password, {
    group: 'Process',
    secret: true,
    text: 'Password of that owner. Unset: a random one, shown by the start or migration that makes the organization.',
  }),
  DATABASE_URL: setting(url('postgres:', 'postgresql:'), {
    group: 'PostgreSQL',
    secret: true,
    text: 'PostgreSQL 15 or later. Unset: `npm start` runs its own embedded PostgreSQL 18; single processes need it.',
  }),
  DATABASE_POOL_MAX: setting(integer(2, 500), {
    group: 'PostgreSQL',
    fallback: '20',
    text: 'Connections per process. All processes together must stay below the server’s max_connections.',
  }),
  POSTGRES_PORT: setting(port, {
    group: 'PostgreSQL',
    fallback: '54320',
    text: 'Port of the embedded PostgreSQL. Not used with DATABASE_URL.',
  }),
  TEMPORAL_ADDRESS: setting(text, {
    group: 'Temporal',
    text: 'Address `host:port` of a Temporal frontend. Unset: `npm start` runs its own development server; single processes need it.',
  }),
  TEMPORAL_NAMESPACE: setting(text, { group: 'Temporal', fallback: 'default', text: 'Namespace of the workflows.' }),
  TEMPORAL_API_KEY: setting(text, { group: 'Temporal', secret: true, text: 'API key of Temporal Cloud. Implies TLS.' }),
  TEMPORAL_TLS: setting(flag, { group: 'Temporal', fallback: 'false', text: 'Connect to Temporal by TLS.' }),
  TEMPORAL_TASK_QUEUE: setting(text, {
    group: 'Temporal',
    fallback: 'agent-mailbox',
    text: 'Task queue of the workers. Change it when several installations share a namespace.',
  }),
  TEMPORAL_UI_URL: setting(url('http:', 'https:'), {
    group: 'Temporal',
    text: 'Address of the Temporal UI, shown and linked to. Unset: that of the development server, if it was started.',
  }),
  TEMPORAL_CLI: setting(text, {
    group: 'Temporal',
    text: 'Path of the `temporal` program for the development server. Unset: the one on PATH, in the cache, or fetched.',
  }),
  TEMPORAL_PORT: setting(port, {
    group: 'Temporal',
    fallback: '7233',
    text: 'Port of the development server; its UI listens on this plus 1000. Not used with TEMPORAL_ADDRESS.',
  }),
  API_HOST: setting(text, {
    group: 'API',
    fallback: '127.0.0.1',
    text: 'Address the API and metrics listen on. `0.0.0.0` in containers, behind a TLS-terminating proxy.',
  }),
  API_PORT: setting(port, { group: 'API', fallback: '8080', text: 'Port of REST API, documents and dashboard.' }),
  API_PUBLIC_URL: setting(url('http:', 'https:'), {
    group: 'API',
    text: 'Address of the API as seen from outside, for links. Unset: made of API_HOST and API_PORT.',
  }),
  API_TRUSTED_PROXIES: setting(integer(0, 10), {
    group: 'API',
    fallback: '0',
    text: 'How many proxies in front of the API are trusted to set X-Forwarded-For. 0: the header is ignored.',
  }),
  OPERATOR_KEY: setting(text, {
    group: 'API',
    secret: true,
    text: 'Credential of the operator (header `x-operator-key`), needed to change plans. Unset: `npm start` makes one in `DATA_DIR/secrets.json`; elsewhere plan changes are refused.',
  }),
  SECRETS_KEYS: setting(secretKeys, {
    group: 'Secrets',
    secret: true,
    text: 'Keys that seal secrets at rest. To rotate, put a new key in front and keep the old ones. Unset: `npm start` makes one in `DATA_DIR/secrets.json`; single processes need it.',
  }),
  CREDENTIAL_PEPPER: setting(secretBytes, {
    group: 'Secrets',
    secret: true,
    text: 'Pepper of the credential hashes. Changing it ends every session, key and token. Unset: as SECRETS_KEYS.',
  }),
  MAIL_DOMAIN: setting(text, {
    group: 'Mail',
    fallback: 'agents.localhost',
    text: 'Domain of mailboxes that are created without one.',
  }),
  MAIL_HOST: setting(text, {
    group: 'Mail',
    fallback: '127.0.0.1',
    text: 'Address the mail doors listen on.',
  }),
  MAIL_HOSTNAME: setting(text, {
    group: 'Mail',
    fallback: 'localhost',
    text: 'Name of this mail host: in the greeting, in Received and Authentication-Results, and for clients’ set-up. Its certificate must match.',
  }),
  SMTP_PORT: setting(port, {
    group: 'Mail',
    fallback: '2525',
    text: 'Port of inbound SMTP (mapped to 25 by compose).',
  }),
  SUBMISSIONS_PORT: setting(port, {
    group: 'Mail',
    fallback: '1465',
    text: 'Port of submission by TLS from the first byte (mapped to 465 by compose).',
  }),
  SUBMISSION_PORT: setting(port, {
    group: 'Mail',
    fallback: '1587',
    text: 'Port of submission with STARTTLS (mapped to 587 by compose).',
  }),
  MAIL_PUBLIC_SUBMISSION_PORT: setting(port, {
    group: 'Mail',
    text: 'Submission port (TLS from the first byte) that clients are told. Unset: SUBMISSIONS_PORT.',
  }),
  MAIL_PUBLIC_SUBMISSION_STARTTLS_PORT: setting(port, {
    group: 'Mail',
    text: 'Submission port with STARTTLS that clients find by DNS. Unset: SUBMISSION_PORT.',
  }),
  IMAPS_PORT: setting(port, {
    group: 'Mail',
    fallback: '1993',
    text: 'Port of IMAP by TLS from the first byte (mapped to 993 by compose).',
  }),
  IMAP_PORT: setting(port, {
    group: 'Mail',
    fallback: '1143',
    text: 'Port of IMAP with STARTTLS (mapped to 143 by compose).',
  }),
  MAIL_PUBLIC_IMAP_PORT: setting(port, {
    group: 'Mail',
    text: 'IMAP port (TLS from the first byte) that clients are told. Unset: IMAPS_PORT.',
  }),
  POP3S_PORT: setting(port, {
    group: 'Mail',
    fallback: '1995',
    text: 'Port of POP3 by TLS from the first byte (mapped to 995 by compose).',
  }),
  POP3_PORT: setting(port, {
    group: 'Mail',
    fallback: '1110',
    text: 'Port of POP3 with STLS (mapped to 110 by compose).',
  }),
  MAIL_PUBLIC_POP3_PORT: setting(port, {
    group: 'Mail',
    text: 'POP3 port (TLS from the first byte) that clients are told. Unset: POP3S_PORT.',
  }),
  MAIL_PROXY_FROM: setting(cidrs, {
    group: 'Mail',
    fallback: '',
    text: 'CIDR ranges of TCP proxies in front of the mail doors. Connections from there must begin with a PROXY protocol header (version 1 or 2), which names the client; from anywhere else none is accepted.',
  }),
  IMAP_HIDE_CAPABILITIES: setting(capabilityHiding, {
    group: 'Mail',
    fallback: '',
    text: 'IMAP capabilities that are not announced to clients that stumble over them, such as `Old Mail*: QRESYNC CONDSTORE; *: COMPRESS=DEFLATE`. The client is the `name` of its ID command; `*` alone is everybody, also before ID and without it. Commands of a hidden capability go on working. When to change: a client fails, and works without the word.',
  }),
  SMTP_MAX_CLIENTS: setting(integer(1, 100_000), {
    group: 'Mail',
    fallback: '1000',
    text: 'Inbound SMTP connections at once in this process; above it new ones are answered 421.',
  }),
  TLS_CERT: setting(text, {
    group: 'Mail',
    text: 'File with the PEM certificate chain of MAIL_HOSTNAME. Unset: a development certificate made in `DATA_DIR/tls`.',
  }),
  TLS_KEY: setting(text, { group: 'Mail', text: 'File with the PEM private key of TLS_CERT.' }),
  DNS_SERVERS: setting(list, {
    group: 'Mail',
    fallback: '',
    text: 'Resolvers for SPF, DKIM, DMARC, domain verification, webhook destinations and mail hosts, as `address` or `address:port`. Empty: those of the system.',
  }),
  OUTBOUND_TRANSPORT: setting(choice('capture', 'relay', 'mx'), {
    group: 'Mail',
    fallback: 'capture',
    text: 'How mail leaves for other hosts. `capture` keeps it: nothing leaves, every recipient ends as `captured`. `relay` hands it to OUTBOUND_RELAY_URL. `mx` brings it to the mail hosts of each domain itself.',
  }),
  OUTBOUND_RELAY_URL: setting(url('smtp:', 'smtps:'), {
    group: 'Mail',
    secret: true,
    text: 'The smarthost, as `smtp://user:password@host:587` (STARTTLS where offered) or `smtps://…:465`; user and password in percent-encoding.',
  }),
  MX_PORT: setting(integer(1, 65_535), {
    group: 'Mail',
    fallback: '25',
    text: 'Port of the mail hosts that the transport `mx` connects to. Another one than 25 is for tests.',
  }),
  MX_MESSAGES_PER_MINUTE: setting(integer(1, 1_000_000), {
    group: 'Mail',
    fallback: '300',
    text: 'Messages that the transport `mx` brings to one domain in a minute, per process; 20 may go at once. What waits longer than 30 s is put off to its next attempt. Lower it while the address of the host is new to receivers.',
  }),
  MX_ALLOW_DESTINATIONS: setting(cidrs, {
    group: 'Mail',
    fallback: '',
    text: 'CIDR ranges that count as publicly routable for the transport `mx`, for development and tests. Refused in production.',
  }),
  OUTBOUND_RETRY_DELAYS_MS: setting(milliseconds, {
    group: 'Mail',
    fallback: '',
    text: 'Waits between attempts to send in milliseconds, the last one repeated, for development and tests. Empty: 1, 5, 15 min, 1, 2, 4 h. Refused in production.',
  }),
  WEBHOOK_ALLOW_DESTINATIONS: setting(cidrs, {
    group: 'Webhooks',
    fallback: '',
    text: 'CIDR ranges that count as publicly routable, for development and tests, e.g. `127.0.0.0/8,::1/128`. Refused in production.',
  }),
  WEBHOOK_EXTRA_CA: setting(text, {
    group: 'Webhooks',
    text: 'File with a further root certificate that destinations may use, for development and tests. Refused in production.',
  }),
  WEBHOOK_RETRY_DELAYS_MS: setting(fourWaits, {
    group: 'Webhooks',
    fallback: '',
    text: 'Four waits of the retry ladder in milliseconds, for development and tests. Empty: 30 s, 2 min, 10 min, 30 min. Refused in production.',
  }),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;
type Parsed<Name extends SettingName> = Exclude<ReturnType<(typeof SETTINGS)[Name]['parse']>, undefined>;
type HasFallback<Name extends SettingName> = (typeof SETTINGS)[Name] extends { fallback: string } ? true : false;

/** Parsed settings. Those without a default may be undefined. */
export type Settings = {
  readonly [Name in SettingName]: HasFallback<Name> extends true ? Parsed<Name> : Parsed<Name> | undefined;
};

/** Settings that only suit development, with what they would give away in production. */
const DEVELOPMENT_ONLY = [
  'WEBHOOK_ALLOW_DESTINATIONS',
  'WEBHOOK_EXTRA_CA',
  'WEBHOOK_RETRY_DELAYS_MS',
  'OUTBOUND_RETRY_DELAYS_MS',
  'MX_ALLOW_DESTINATIONS',
] as const;

/**
 * Reads all settings.
 *
 * @throws {SettingsError} naming every setting that is wrong and what it takes
 */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries(SETTINGS) as [SettingName, Setting<unknown>][]) {
    const given = environment[name]?.trim();
    const raw = given === undefined || given === '' ? definition.fallback : given;
    if (raw === undefined) continue;
    const value = definition.parse(raw);
    if (value === undefined) {
      const shown = definition.secret ? 'has a value' : `is "${raw}"`;
      problems.push(`${name} ${shown}, but takes ${definition.takes.replaceAll('`', '')}`);
    }
    values[name] = value;
  }
  // Each value was made by the parser of its own setting, which is what the mapped type says.
  const settings = values as Settings;
  if (settings.MODE === 'production')
    for (const name of DEVELOPMENT_ONLY)
      if (settings[name]?.length)
        problems.push(`${name} is for development and tests only: unset it, or set MODE=development`);
  if ((settings.TLS_CERT === undefined) !== (settings.TLS_KEY === undefined))
    problems.push('TLS_CERT and TLS_KEY belong together: set both or neither');
  if (settings.OUTBOUND_TRANSPORT === 'relay' && settings.OUTBOUND_RELAY_URL === undefined)
    problems.push('OUTBOUND_TRANSPORT is "relay", which needs OUTBOUND_RELAY_URL');
  problems.push(...hostnameProblems(settings), ...portClashes(settings));
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

/** Receivers ask DNS about the name of who brings mail, and refuse one that is made up. */
function hostnameProblems({ MODE, OUTBOUND_TRANSPORT, MAIL_HOSTNAME }: Settings): string[] {
  const known = /\.[^.]+$/.test(MAIL_HOSTNAME) && !/\.(?:localhost|local|invalid)$/i.test(MAIL_HOSTNAME);
  if (MODE !== 'production' || OUTBOUND_TRANSPORT !== 'mx' || known) return [];
  return [
    `OUTBOUND_TRANSPORT is "mx", which says MAIL_HOSTNAME to other mail hosts, but that is "${MAIL_HOSTNAME}": set it to the name this host has in reverse DNS`,
  ];
}

/** Port of the UI of the development server, beside TEMPORAL_PORT. */
const TEMPORAL_UI_PORT_OFFSET = 1_000;

/** Two listeners of one process on one port: the second would fail with no more than EADDRINUSE. */
function portClashes(settings: Settings): string[] {
  const { DATABASE_URL, POSTGRES_PORT, TEMPORAL_ADDRESS, TEMPORAL_PORT } = settings;
  const listeners: readonly (readonly [string, number | undefined])[] = [
    ['METRICS_PORT', settings.METRICS_PORT],
    ['API_PORT', settings.API_PORT],
    ['SMTP_PORT', settings.SMTP_PORT],
    ['SUBMISSIONS_PORT', settings.SUBMISSIONS_PORT],
    ['SUBMISSION_PORT', settings.SUBMISSION_PORT],
    ['IMAPS_PORT', settings.IMAPS_PORT],
    ['IMAP_PORT', settings.IMAP_PORT],
    ['POP3S_PORT', settings.POP3S_PORT],
    ['POP3_PORT', settings.POP3_PORT],
    ['POSTGRES_PORT', DATABASE_URL === undefined ? POSTGRES_PORT : undefined],
    ['TEMPORAL_PORT', TEMPORAL_ADDRESS === undefined ? TEMPORAL_PORT : undefined],
    [
      `TEMPORAL_PORT + ${TEMPORAL_UI_PORT_OFFSET} (its UI)`,
      TEMPORAL_ADDRESS === undefined && TEMPORAL_PORT > 0 ? TEMPORAL_PORT + TEMPORAL_UI_PORT_OFFSET : undefined,
    ],
  ];
  // 0 takes any free port, and switches metrics off.
  const used = listeners.filter(([, number]) => number !== undefined && number > 0);
  return [...Map.groupBy(used, ([, number]) => number)].flatMap(([number, same]) =>
    same.length < 2
      ? []
      : [`${same.map(([name]) => name).join(' and ')} are all ${number}, but each listens on a port of its own`],
  );
}
