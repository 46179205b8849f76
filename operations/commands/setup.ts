/**
 * `setup`: from a few answers to a settings file, the DNS records, and what is still wrong.
 *
 *   answers (options, else the file as it is, else questions) → values → file → DNS records → doctor
 *
 * Secrets are made once: those of the file, of the environment or of an earlier `npm start` in DATA_DIR are kept.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { instanceDkimKey } from '#core/mailboxes/domain-records.ts';
import { choice, port, text, url } from '#core/platform/settings/setting-forms.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { readSettingsFile, settingsFileOf, setVariables } from '#core/platform/settings/settings-file.ts';
import { writeWhole } from '#core/platform/write-file.ts';
import { type Finding, needsAttention } from '#core/process/diagnosis/finding.ts';
import { pendingMigrations } from '#db/migrate.ts';
import { type CommandContext, CommandError, command, optionFlag, UsageError } from '#operations/command.ts';
import { openContext } from '#operations/context.ts';
import { installationRecords, recordsText, type ShownRecord } from '#operations/dns.ts';
import {
  type Answers,
  domainName,
  emailAddress,
  freshSecrets,
  isSecretSetting,
  settingsOfAnswers,
  settingsOfKind,
  settingsText,
} from '#operations/installation-settings.ts';
import { openQuestions, type Question } from '#operations/questions.ts';
import { settingsOfStartedService } from '#operations/started-service.ts';
import { findAll, findingsText } from './doctor.ts';

const options = {
  domain: { text: 'domain of the mailboxes', value: 'name', form: domainName },
  host: { text: 'name of this mail host in DNS (default: mail.<domain>)', value: 'name', form: domainName },
  send: {
    text: 'how mail leaves: direct to the hosts of its recipients, by a relay, or none (it is stored, not sent)',
    value: 'how',
    form: choice('direct', 'relay', 'none'),
  },
  relayHost: { text: 'host of the relay', value: 'name', form: domainName },
  relayPort: { text: 'its port; 465 is TLS from the first byte (default: 587)', value: 'number', form: port },
  relayUser: { text: 'user name there', value: 'name', form: text },
  relayPasswordFile: {
    text: 'file with its password, so that no list of processes shows it',
    value: 'file',
    form: text,
  },
  owner: { text: 'sign-in address of the first person (default: owner@<domain>)', value: 'email', form: emailAddress },
  publicUrl: {
    text: 'address of API and dashboard as people reach them (default: https://<host>)',
    value: 'url',
    form: url('https:', 'http:'),
  },
  servers: {
    text: 'own: your PostgreSQL and Temporal; embedded: those of `npm start`; compose: docker-compose.yml',
    value: 'which',
    form: choice('own', 'embedded', 'compose'),
  },
  databaseUrl: {
    text: 'your PostgreSQL (default: DATABASE_URL of the environment)',
    value: 'url',
    form: url('postgres:', 'postgresql:'),
  },
  temporalAddress: {
    text: 'your Temporal (default: TEMPORAL_ADDRESS of the environment)',
    value: 'host:port',
    form: text,
  },
  certificate: { text: 'file with the certificate chain of the host', value: 'file', form: text },
  key: { text: 'file with its key', value: 'file', form: text },
  acme: {
    text: 'instead: directory of an authority that issues certificates by themselves (agrees to its terms); with standard ports the API is then served on 443 too',
    value: 'url',
    form: url('https:'),
  },
  ports: {
    text: 'standard (default): listen on 25, 465, 587, 993, …; high: on 2525, 1465, …, which you map',
    value: 'which',
    form: choice('standard', 'high'),
  },
  file: {
    text: 'where to write (default: AGENT_MAILBOX_ENV, else DATA_DIR/settings.env; with compose .env)',
    value: 'file',
    form: text,
  },
  replace: { text: 'change settings of a file that exists; its secrets are kept in any case' },
  ask: { text: 'ask for what is not given, also where standard input is no terminal' },
} as const;

type SetupContext = CommandContext<Record<never, never>, typeof options>;
type Values = Readonly<Record<string, string>>;

/** The answers that a file has. */
function answersOf(values: Values) {
  const { MAIL_DOMAIN: domain, MAIL_HOSTNAME: host, API_PUBLIC_URL: publicUrl, OWNER_EMAIL: owner } = values;
  const transport = values['OUTBOUND_TRANSPORT'];
  const send =
    transport === undefined ? undefined : transport === 'mx' ? 'direct' : transport === 'relay' ? 'relay' : 'none';
  const servers =
    domain === undefined
      ? undefined
      : values['POSTGRES_PASSWORD'] !== undefined
        ? 'compose'
        : values['DATABASE_URL'] === undefined
          ? 'embedded'
          : 'own';
  const ports = values['MAIL_PUBLIC_IMAP_PORT'] === undefined ? 'standard' : 'high';
  return { domain, host, publicUrl, owner, send, servers, ports } as const;
}

/** Options first, then the file, then questions; else an error that names the option. */
async function gather({ options: given, signal }: SetupContext, known: Values, environment: Values): Promise<Answers> {
  const before = answersOf(known);
  const questions = process.stdin.isTTY || given.ask ? openQuestions(process.stdin, process.stderr, signal) : undefined;
  async function take<Value>(
    name: keyof typeof options,
    already: Value | undefined,
    question: Omit<Question<Value>, 'form'> & { readonly form: Question<Value>['form'] },
    otherwise?: Value,
  ): Promise<Value> {
    if (already !== undefined) return already;
    if (questions !== undefined) return questions.ask(question);
    if (otherwise !== undefined) return otherwise;
    throw new UsageError(`${optionFlag(name)} is missing (or --ask, to be asked)`);
  }
  /** An option that has a value in the file or a default is asked for only in a new file. */
  const isNew = before.domain === undefined;
  try {
    const domain = await take('domain', given.domain ?? before.domain, {
      text: 'Domain of the mailboxes',
      form: domainName,
    });
    const defaultHost = `mail.${domain}`;
    const host = await take(
      'host',
      given.host ?? before.host,
      { text: 'Name of this mail host in DNS', form: domainName, fallback: defaultHost },
      defaultHost,
    );
    const send = await take('send', given.send ?? before.send, {
      text: 'How mail leaves (direct, relay, none)',
      form: choice('direct', 'relay', 'none'),
      fallback: 'direct',
    });
    const keepsRelay = given.relayHost === undefined && known['OUTBOUND_RELAY_URL'] !== undefined;
    const relay = send !== 'relay' || keepsRelay ? undefined : await askRelay();
    const defaultOwner = `owner@${domain}`;
    const owner = await take(
      'owner',
      given.owner ?? before.owner ?? (isNew ? undefined : defaultOwner),
      { text: 'Sign-in address of the first person', form: emailAddress, fallback: defaultOwner },
      defaultOwner,
    );
    const defaultUrl = `https://${host}`;
    const publicUrl = await take(
      'publicUrl',
      given.publicUrl ?? before.publicUrl,
      { text: 'Address of API and dashboard', form: url('https:', 'http:'), fallback: defaultUrl },
      defaultUrl,
    );
    const kind = await take('servers', given.servers ?? (given.databaseUrl === undefined ? before.servers : 'own'), {
      text: 'PostgreSQL and Temporal (own, embedded, compose)',
      form: choice('own', 'embedded', 'compose'),
      fallback: environment['DATABASE_URL'] === undefined ? 'embedded' : 'own',
    });
    const servers = kind === 'own' ? ({ kind, ...(await askServers()) } as const) : { kind };
    return {
      ...{ domain, host, send, owner, publicUrl, servers },
      ...(relay === undefined ? {} : { relay }),
      certificate: certificate(),
      listenOn: known['MAIL_HOST'] ?? '0.0.0.0',
      acme: given.acme ?? (given.certificate === undefined ? known['ACME_DIRECTORY'] : undefined),
      standardPorts: (given.ports ?? before.ports) !== 'high',
      dataDir: path.resolve(readSettings({ DATA_DIR: environment['DATA_DIR'] ?? known['DATA_DIR'] }).DATA_DIR),
    };
  } finally {
    questions?.close();
  }

  async function askRelay(): Promise<NonNullable<Answers['relay']>> {
    const host = await take('relayHost', given.relayHost, { text: 'Host of the relay', form: domainName });
    const relayPort = await take('relayPort', given.relayPort, { text: 'Its port', form: port, fallback: '587' }, 587);
    const none = 'none';
    const user = await take(
      'relayUser',
      given.relayUser,
      { text: 'User name there', form: text, fallback: none },
      none,
    );
    if (user === none) return { host, port: relayPort };
    const file = given.relayPasswordFile;
    const password = await take(
      'relayPasswordFile',
      file === undefined ? undefined : readFileSync(file, 'utf8').trim(),
      {
        text: 'Password',
        form: text,
        hidden: true,
      },
    );
    return { host, port: relayPort, user, password };
  }
  async function askServers() {
    const databaseUrl = await take(
      'databaseUrl',
      given.databaseUrl ?? known['DATABASE_URL'] ?? environment['DATABASE_URL'],
      {
        text: 'PostgreSQL (postgres://user:password@host/database)',
        form: url('postgres:', 'postgresql:'),
        hidden: true,
      },
    );
    const temporalAddress = await take(
      'temporalAddress',
      given.temporalAddress ?? known['TEMPORAL_ADDRESS'] ?? environment['TEMPORAL_ADDRESS'],
      { text: 'Temporal (host:port)', form: text, fallback: 'localhost:7233' },
    );
    return { databaseUrl, temporalAddress };
  }
  function certificate(): Answers['certificate'] {
    const { certificate: certFile, key: keyFile } = given;
    if ((certFile === undefined) !== (keyFile === undefined))
      throw new UsageError('--certificate and --key belong together');
    if (certFile !== undefined && keyFile !== undefined)
      return { certFile: path.resolve(certFile), keyFile: path.resolve(keyFile) };
    const { TLS_CERT: knownCert, TLS_KEY: knownKey } = known;
    return knownCert === undefined || knownKey === undefined ? undefined : { certFile: knownCert, keyFile: knownKey };
  }
}

/** Secrets that exist already take precedence over fresh ones. */
function secretsFor(
  known: Values,
  environment: Values,
  dataDir: string,
  inContainers: boolean,
): Record<string, string> {
  const existing: Values = { ...settingsOfStartedService(dataDir), ...environment, ...known };
  return Object.fromEntries(
    Object.entries(freshSecrets(inContainers)).map(([name, fresh]) => [name, existing[name] ?? fresh]),
  );
}

/** Names whose values differ or are gone; for the message, so values of secrets are not among it. */
const changedNames = (before: Values, now: Values): string[] =>
  Object.keys(before).filter((name) => before[name] !== now[name]);

/** Settings of the written file as a command of its own would read them. */
function contextOfFile({ signal }: SetupContext, file: string) {
  return openContext({ ...process.env, AGENT_MAILBOX_ENV: file }, false, signal);
}

interface Examined {
  readonly records: readonly ShownRecord[];
  readonly findings: readonly Finding[];
  readonly text: string;
}

async function examine(context: SetupContext, file: string, kind: Answers['servers']['kind']): Promise<Examined> {
  const own = contextOfFile(context, file);
  try {
    const settings = own.settings();
    const dkim = await dkimOf(own);
    const records = await installationRecords(settings, dkim);
    const findings = kind === 'compose' ? [] : await findAll(own, {});
    const titled = (title: string, body: string) => `${title}\n\n${body}\n`;
    return {
      records,
      findings,
      // The table of the records says what DNS has.
      text: [
        titled('DNS records', recordsText(records, settings, dkim !== undefined)),
        ...(kind === 'compose'
          ? []
          : [titled('Doctor', findingsText(findings.filter(({ check }) => check !== 'dns')))]),
        titled('Next', nextSteps(kind, file)),
      ].join('\n'),
    };
  } finally {
    await own.close();
  }
}

/** The key is in the database: only if that is there and was migrated. */
async function dkimOf(own: ReturnType<typeof openContext>) {
  if (own.environment['DATABASE_URL'] === undefined) return undefined;
  try {
    const services = await own.services();
    return (await pendingMigrations(services.db)).length === 0 ? await instanceDkimKey(services) : undefined;
  } catch {
    // The doctor says why.
    return undefined;
  }
}

function nextSteps(kind: Answers['servers']['kind'], file: string): string {
  const named = `AGENT_MAILBOX_ENV=${file}`;
  const steps = {
    compose: [
      'docker compose up -d --build',
      'docker compose logs migrate          # sign-in, password and API key',
      'docker compose run --rm migrate agent-mailbox-admin dns-records',
      'docker compose run --rm migrate agent-mailbox-admin doctor --host mail',
    ],
    embedded: [
      `${named} npm start`,
      `${named} npx agent-mailbox-admin dns-records`,
      `${named} npx agent-mailbox-admin doctor`,
    ],
    own: [
      `${named} npx agent-mailbox-admin migrate      # shows sign-in, password and API key`,
      `${named} npx agent-mailbox-admin dns-records`,
      ...['api', 'worker', 'mail'].map((each) => `${named} npm run start:${each}`),
      `${named} npx agent-mailbox-admin doctor`,
    ],
  }[kind];
  return steps.map((step) => `  ${step}`).join('\n');
}

export const setupCommand = command({
  name: 'setup',
  summary: 'write the settings of an installation, print its DNS records, and examine it',
  description:
    'Asks for the domain, the host name and how mail leaves, and writes the settings file with new secrets (mode 0600). What is given as an option is not asked. Run again, it takes the answers from the file, prints the DNS records and examines the installation; settings of the file change only with --replace, and its secrets never. Secrets of an earlier `npm start` in DATA_DIR are taken over. Findings: those of doctor.',
  arguments: {},
  options,
  examples: [
    'setup',
    'setup --domain agents.example.org --send direct --servers compose',
    'setup --domain agents.example.org --send relay --relay-host smtp.example.net --relay-user me --relay-password-file password --servers own --database-url postgres://… --temporal-address localhost:7233',
  ],
  async run(context) {
    const { options: given, output, progress } = context;
    const environment = setVariables(process.env);
    const place = given.file ?? (given.servers === 'compose' ? '.env' : settingsFileOf(environment).file);
    const file = path.resolve(place);
    const known = existsSync(file) ? readSettingsFile(file) : {};
    const answers = await gather(context, known, environment);
    const inContainers = answers.servers.kind === 'compose';
    const secrets = secretsFor(known, environment, answers.dataDir, inContainers);
    const isGiven = Object.entries(given).some(
      ([name, value]) => !['file', 'replace', 'ask'].includes(name) && value !== undefined,
    );
    // A file that exists is taken as it is, unless an option says otherwise.
    const isKept = known['MAIL_DOMAIN'] !== undefined && !isGiven;
    const wanted = { ...(isKept ? {} : settingsOfAnswers(answers)), ...secrets };
    const left = isKept
      ? known
      : Object.fromEntries(Object.entries(known).filter(([name]) => !settingsOfKind.includes(name)));
    const values: Values = { ...left, ...wanted };
    const changed = changedNames(known, values);
    if (changed.length > 0 && !given.replace)
      throw new CommandError(
        `${file} exists with another ${changed.map((name) => (isSecretSetting(name) ? name : `${name} (${known[name]}, not ${values[name] ?? 'left out'})`)).join(', ')}. ` +
          'Nothing was written. To change it, run this again with --replace; the secrets are kept',
      );
    // All problems at once, before anything is written.
    readSettings(inContainers ? { ...values, MODE: 'production' } : values);
    const isWritten = [...Object.keys(known), ...Object.keys(values)].some((name) => known[name] !== values[name]);
    if (isWritten) {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      writeWhole(file, settingsText(values, new Set(Object.keys(values).filter(isSecretSetting))), 0o600);
    }
    progress.say(isWritten ? `Wrote ${file}` : `${file} is as it should be`);
    const { records, findings, text: shown } = await examine(context, file, answers.servers.kind);
    output({ file, written: isWritten, records, findings }, `\n${shown}`);
    return findings.some(needsAttention) ? 'findings' : 'done';
  },
});
