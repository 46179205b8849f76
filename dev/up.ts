/**
 * `npm start`: everything the service needs, in one go, with nothing configured.
 *
 *   settings → data folder → lock → ports → PostgreSQL → Temporal → migrations → first organization → all → screen
 *
 * What is configured (DATABASE_URL, TEMPORAL_ADDRESS, TLS_CERT, secrets) is used instead of a part of our own. Stopping
 * goes the same way back: doors, worker, connections, then Temporal and PostgreSQL. See `core/process-life.ts`.
 */
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { requirePostgres } from '../core/dependencies.ts';
import { createLogger, type Logger } from '../core/logger.ts';
import { type ProcessLife, runProcess } from '../core/process-life.ts';
import { openServices } from '../core/services.ts';
import { readSettings, SETTINGS, type SettingName, type Settings, SettingsError } from '../core/settings.ts';
import { migrate } from '../db/migrate.ts';
import { type AllInOne, startAllInOne } from './all-in-one.ts';
import { developmentCertificates } from './certificates.ts';
import type { ChildEvents } from './child-process.ts';
import { openDataFolder } from './data-folder.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { ensureFirstOrganization } from './first-organization.ts';
import { portProblem } from './free-port.ts';
import { takeInstanceLock } from './instance-lock.ts';
import { progressOn } from './progress.ts';
import { screen } from './screen.ts';
import { secretsFile } from './secrets-file.ts';
import {
  DOOR_SECURITY,
  type DoorName,
  type MailDoorFacts,
  type ServiceFacts,
  writeServiceFile,
} from './service-file.ts';
import { chooseTemporal } from './temporal-choice.ts';

const projectFolder = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');
const LOG_KEEP_BYTES = 20 * 1024 * 1024;
const READY_WITHIN_MS = 60_000;
const READY_POLL_MS = 50;
const LOOPBACK = '127.0.0.0/8,::1/128';

const progress = progressOn(process.stderr);
const forced: (() => void)[] = [];
let log: Logger | undefined;
let logFile: string | undefined;

function openLog(level: string, file: string): Logger {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_KEEP_BYTES) renameSync(file, `${file}.1`);
  return createLogger(level, pino.destination({ dest: file, sync: true, mode: 0o600 }));
}

/** Says which ports are taken, all at once and before anything is started. */
async function requireFreePorts(settings: Settings): Promise<void> {
  const wanted = Object.entries(SETTINGS).flatMap(([name, { group }]) => {
    const port = settings[name as SettingName];
    // The other ports are looked at where they are used, or are those of somebody else.
    const ours = name.endsWith('_PORT') && !name.startsWith('MAIL_PUBLIC_') && name !== 'MX_PORT';
    if (!ours || typeof port !== 'number') return [];
    if (group !== 'Process' && group !== 'API' && group !== 'Mail') return [];
    return [{ setting: name, port, host: group === 'Mail' ? settings.MAIL_HOST : settings.API_HOST }];
  });
  const problems: string[] = [];
  for (const { setting, port, host } of wanted) {
    const problem = await portProblem(port, host);
    if (problem !== undefined)
      problems.push(
        `${setting}: port ${port} on ${host} ${problem}. End that program, or start with ${setting}=<a free port>`,
      );
  }
  if (problems.length > 0) throw new SettingsError(problems);
}

/** What `npm start` fills in where nothing is configured, as environment variables. */
function madeUp(
  settings: Settings,
  dataDir: string,
): { values: Record<string, string>; notes: string[]; caFile: string | null } {
  const values: Record<string, string> = { DATA_DIR: dataDir };
  const notes: string[] = [];
  const production = settings.MODE === 'production';
  if (production) {
    const missing = (['SECRETS_KEYS', 'CREDENTIAL_PEPPER'] as const).filter((name) => settings[name] === undefined);
    if (missing.length > 0)
      throw new SettingsError(
        missing.map((name) => `${name} must be set with MODE=production; see docs/configuration.md`),
      );
  }
  let caFile: string | null = null;
  if (settings.TLS_CERT === undefined) {
    const files = developmentCertificates(path.join(dataDir, 'tls'), [settings.MAIL_HOSTNAME, settings.MAIL_DOMAIN]);
    values['TLS_CERT'] = files.certFile;
    values['TLS_KEY'] = files.keyFile;
    caFile = files.caFile;
    if (production) notes.push('The mail host shows a development certificate: set TLS_CERT and TLS_KEY.');
    else if (settings.WEBHOOK_EXTRA_CA === undefined) values['WEBHOOK_EXTRA_CA'] = files.caFile;
  }
  if (!production && settings.WEBHOOK_ALLOW_DESTINATIONS.length === 0) {
    values['WEBHOOK_ALLOW_DESTINATIONS'] = LOOPBACK;
    notes.push('Development: webhooks may go to this machine (localhost). MODE=production forbids it.');
  }
  return { values, notes, caFile };
}

/** How the open doors are reached. */
function doorFacts(doors: AllInOne['doors'], settings: Settings): MailDoorFacts {
  const host = ['0.0.0.0', '::'].includes(settings.MAIL_HOST) ? settings.MAIL_HOSTNAME : settings.MAIL_HOST;
  const facts = Object.entries(DOOR_SECURITY).map(([name, security]) => {
    const door = doors[name as DoorName];
    return [name, door === undefined ? null : { host, port: door.port, security }] as const;
  });
  // One entry for each name of DOOR_SECURITY, which is what the type says.
  return Object.fromEntries(facts) as MailDoorFacts;
}

async function awaitReady(apiUrl: string, life: ProcessLife): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  let found = '';
  while (Date.now() < deadline && !life.stopping.aborted) {
    const answer = await fetch(`${apiUrl}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    found = (await answer?.text()) ?? 'no answer';
    await delay(READY_POLL_MS);
  }
  throw new Error(`The service did not get ready within ${READY_WITHIN_MS / 1000} s: ${found}`);
}

async function start(life: ProcessLife): Promise<void> {
  const startedAt = new Date();
  const { version } = JSON.parse(readFileSync(path.join(projectFolder, 'package.json'), 'utf8')) as { version: string };
  const given = readSettings(process.env);
  const dataDir = openDataFolder(given.DATA_DIR);
  process.stderr.write(`\n  Agent Mailbox ${version}, data in ${dataDir}\n\n`);
  const unlock = takeInstanceLock(dataDir);
  life.onStop('lock', unlock);
  const serviceFile = path.join(dataDir, 'service.json');
  rmSync(serviceFile, { force: true }); // of a start that was killed
  logFile = path.join(dataDir, 'service.log');
  log = openLog(given.LOG_LEVEL, logFile);
  const { values, notes, caFile } = madeUp(given, dataDir);
  const secrets = secretsFile(path.join(dataDir, 'secrets.json'), given.OWNER_EMAIL ?? `owner@${given.MAIL_DOMAIN}`);
  await requireFreePorts(given);

  const events = (name: string): ChildEvents => ({
    onCrash(message) {
      log?.error({ part: name }, message);
      progress.warn(message);
    },
    onRestarted(message) {
      log?.warn({ part: name }, message);
      progress.warn(message);
    },
    onGivenUp: life.fail,
  });
  /** One step of the start; none begins after a stop was asked for. */
  async function step<Result>(title: string, work: (note: (text: string) => void) => Promise<Result>): Promise<Result> {
    life.stopping.throwIfAborted();
    return progress.step(title, work);
  }

  const databaseUrl = await step(given.DATABASE_URL === undefined ? 'PostgreSQL 18' : 'PostgreSQL', async (note) => {
    if (given.DATABASE_URL !== undefined) {
      await requirePostgres(given.DATABASE_URL);
      return given.DATABASE_URL;
    }
    const server = await startEmbeddedPostgres({
      folder: path.join(dataDir, 'postgres'),
      port: given.POSTGRES_PORT,
      events: events('PostgreSQL'),
      onProgress: note,
    });
    life.onStop('PostgreSQL', server.stop);
    forced.push(server.kill);
    return server.url;
  });

  const temporal = await step('Temporal', async (note) => {
    const chosen = await chooseTemporal({
      settings: given,
      folder: path.join(dataDir, 'temporal'),
      signal: life.stopping,
      events: events('Temporal'),
      onProgress: note,
    });
    if (chosen.server !== undefined) {
      life.onStop('Temporal', chosen.server.stop);
      forced.push(chosen.server.kill);
    }
    return chosen;
  });
  if (temporal.origin === 'found') {
    notes.push(`Temporal: the server found on ${temporal.address} is used, and not stopped at the end.`);
    // Others may work there too: a task queue of our own keeps their tasks apart from ours.
    if (!process.env['TEMPORAL_TASK_QUEUE']) values['TEMPORAL_TASK_QUEUE'] = `agent-mailbox-${secrets.installation}`;
  }
  if (temporal.added.length > 0) notes.push(`Temporal: search attributes added: ${temporal.added.join(', ')}.`);

  const settings = readSettings({
    SECRETS_KEYS: secrets.secretsKeys,
    CREDENTIAL_PEPPER: secrets.credentialPepper,
    ...(given.MODE === 'production' ? {} : { OPERATOR_KEY: secrets.operatorKey }),
    ...Object.fromEntries(Object.entries(process.env).filter(([, value]) => value?.trim())),
    ...values,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    ...(temporal.uiUrl === undefined ? {} : { TEMPORAL_UI_URL: temporal.uiUrl }),
  });
  for (const note of notes) log.warn(note);
  const services = await openServices(settings, log);
  life.onStop('services', () => services.close());
  await step('Database schema', () => migrate(services.db));
  const first = await step('Organization', () =>
    ensureFirstOrganization(services, {
      ...secrets.first,
      ...(given.OWNER_PASSWORD === undefined ? {} : { password: given.OWNER_PASSWORD }),
    }),
  );
  if (first.apiKey === undefined)
    notes.push(
      'The database has an organization already, and its first API key is not that of this folder (or was revoked). ' +
        'Sign in with an account of it and make a key.',
    );
  const all = await step('API, worker, mail', async () => {
    const started = await startAllInOne(services, life);
    await awaitReady(started.apiUrl, life);
    return started;
  });
  life.stopping.throwIfAborted();

  const facts: ServiceFacts = {
    apiUrl: all.apiUrl,
    email: first.email ?? null,
    password: first.password ?? null,
    apiKey: first.apiKey ?? null,
    organizationId: first.organizationId,
    ...doorFacts(all.doors, settings),
    temporalAddress: temporal.address,
    temporalUiUrl: temporal.uiUrl ?? null,
    databaseUrl,
    caFile,
    pid: process.pid,
    startedAt: startedAt.toISOString(),
  };
  life.onStop('service.json', writeServiceFile(serviceFile, facts));
  log.info({ apiUrl: facts.apiUrl, seconds: (Date.now() - startedAt.getTime()) / 1000 }, 'running');
  process.stdout.write(
    screen(
      {
        ...facts,
        version,
        mode: settings.MODE,
        projectFolder,
        dataDir: dataDir === path.join(projectFolder, '.data') ? undefined : dataDir,
        serviceFile,
        logFile,
        mailDomain: settings.MAIL_DOMAIN,
        receiverAllowed: settings.WEBHOOK_EXTRA_CA !== undefined && settings.WEBHOOK_EXTRA_CA === caFile,
        notes,
      },
      process.stdout.isTTY,
    ),
  );
}

await runProcess(
  {
    log: () => log,
    onStopping(fault) {
      if (fault === undefined) {
        progress.say('Stopping …');
        return;
      }
      const message = fault instanceof Error ? fault.message : inspect(fault);
      log?.fatal({ error: fault instanceof Error ? fault.stack : fault }, 'stopping because of a fault');
      process.stderr.write(`\n  Agent Mailbox cannot run:\n\n${message.replaceAll(/^/gm, '  ')}\n\n`);
      if (logFile !== undefined && existsSync(logFile) && !(fault instanceof SettingsError))
        process.stderr.write(`  More in ${logFile}\n\n`);
    },
    onForced() {
      progress.warn('Ended at once; unfinished work is taken up at the next start.');
      for (const kill of forced) kill();
    },
  },
  start,
);
progress.say(process.exitCode === 0 ? 'Stopped.' : 'Ended.');
