/**
 * `npm start`: starts everything the service needs, without configuration.
 *
 *   settings → data folder → lock → ports → PostgreSQL → Temporal → migrations → first organization → all → screen
 *
 * What is configured (DATABASE_URL, TEMPORAL_ADDRESS, TLS_CERT, secrets) is used instead of an embedded part. Stopping
 * is in reverse order: listeners, worker, connections, then Temporal and PostgreSQL. See `core/platform/process/process-life.ts`.
 */

import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { requireTemporal } from '#core/platform/engine/temporal-setup.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { createLogger, type Logger, logDestination } from '#core/platform/log/logger.ts';
import { type ProcessLife, runProcess, stackOf } from '#core/platform/process/process-life.ts';
import { openServices } from '#core/platform/process/services.ts';
import {
  ACCEPT_CHANGED_SETTINGS,
  type AgreedTemporal,
  agreedTemporal,
  requireAcceptedSettings,
  storeAgreedSettings,
  storeAgreedTemporal,
} from '#core/platform/settings/agreed-settings.ts';
import {
  readSettings,
  SETTINGS,
  type SettingName,
  type Settings,
  SettingsError,
} from '#core/platform/settings/settings.ts';
import { withSettingsFile } from '#core/platform/settings/settings-file.ts';
import { startTracing } from '#core/platform/tracing/start-tracing.ts';
import { checkDatabase } from '#core/process/check-database.ts';
import { requirePostgres } from '#core/process/dependencies.ts';
import type { Readiness } from '#core/process/readiness.ts';
import { requireOwnSecretsKeys } from '#core/process/start-checks.ts';
import { openDatabase } from '#db/database.ts';
import { migrate, preparingAlone } from '#db/migrate.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { buildDocumentation } from '#dev/build/build-documentation.ts';
import { developmentCertificates } from '../../operations/certificates.ts';
import { ensureFirstOrganization } from '../../operations/first-organization.ts';
import { type Note, progressOn } from '../../operations/progress.ts';
import { secretsFile } from '../../operations/secrets-file.ts';
import { startAllInOne } from './all-in-one.ts';
import type { ChildEvents } from './child-process.ts';
import { openDataFolder } from './data-folder.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { portProblem } from './free-port.ts';
import { takeInstanceLock } from './instance-lock.ts';
import { screen } from './screen.ts';
import { listenerFacts, type ServiceFacts, writeServiceFile, writtenSettings } from './service-file.ts';
import { chooseTemporal } from './temporal-program.ts';
import { endLeftoverTemporal } from './temporal-server.ts';

const projectFolder = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
const LOG_KEEP_BYTES = 20 * 1024 * 1024;
const READY_WITHIN_MS = 60_000;
const READY_POLL_MS = 50;
/** While the setting is not known. */
const STOP_WITHOUT_SETTINGS_MS = 10_000;
const LOOPBACK = '127.0.0.0/8,::1/128';

const progress = progressOn(process.stderr);
const forced: (() => void)[] = [];
let log: Logger | undefined;
let logFile: string | undefined;
let stopWithinMs = STOP_WITHOUT_SETTINGS_MS;

function openLog(level: string, file: string): Logger {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_KEEP_BYTES) renameSync(file, `${file}.1`);
  return createLogger(level, logDestination(file));
}

/** Reports all ports in use together, before anything is started. */
async function requireFreePorts(settings: Settings): Promise<void> {
  const wanted = Object.entries(SETTINGS).flatMap(([name, { group }]) => {
    const port = settings[name as SettingName];
    // The other ports are checked where they are used, or belong to other servers.
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
        `${setting}: port ${port} on ${host} ${problem}. Stop that program, or start with ${setting}=<a free port>`,
      );
  }
  if (problems.length > 0) throw new SettingsError(problems);
}

/** Defaults that `npm start` sets for missing settings, as environment variables. */
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
    if (!production && settings.WEBHOOK_EXTRA_CA === undefined) values['WEBHOOK_EXTRA_CA'] = files.caFile;
  }
  if (!production && settings.WEBHOOK_ALLOW_DESTINATIONS.length === 0) {
    values['WEBHOOK_ALLOW_DESTINATIONS'] = LOOPBACK;
    notes.push('Development mode: webhooks may be sent to this machine (localhost). MODE=production forbids this.');
  }
  return { values, notes, caFile };
}

/** Pages are built once, then only after their sources have changed. */
const building = (note: Note) => (text: string) => note(`building the pages, once; ${text}`, { passing: true });

/** @returns what `/readyz` warns of */
async function awaitReady(apiUrl: string, life: ProcessLife): Promise<string[]> {
  const deadline = Date.now() + READY_WITHIN_MS;
  let found = '';
  while (Date.now() < deadline && !life.stopping.aborted) {
    const answer = await fetch(`${apiUrl}/readyz`).catch(() => undefined);
    found = (await answer?.text()) ?? 'no answer';
    if (answer?.ok) return (JSON.parse(found) as Readiness).problems.map(({ message }) => message);
    await delay(READY_POLL_MS);
  }
  if (life.stopping.aborted) return [];
  throw new Error(`The service was not ready within ${READY_WITHIN_MS / 1000} s: ${found}`);
}

/**
 * Before Temporal gets a namespace, and before anything is migrated.
 *
 * @returns which Temporal it needs; undefined: any
 * @throws {SettingsError} if the database belongs to another installation
 */
async function requireOwnDatabase(url: string, settings: Settings): Promise<AgreedTemporal | undefined> {
  // The default differs with the server that is found, and no other process uses it.
  const { TEMPORAL_TASK_QUEUE, ...others } = settings;
  const agreed = process.env['TEMPORAL_TASK_QUEUE'] ? { ...others, TEMPORAL_TASK_QUEUE } : others;
  const db = await openDatabase({ url, poolMax: 1 });
  try {
    const accept = process.argv.includes(ACCEPT_CHANGED_SETTINGS);
    await requireAcceptedSettings(db, agreed, accept);
    return accept ? undefined : await agreedTemporal(db);
  } finally {
    await db.close();
  }
}

async function start(life: ProcessLife): Promise<void> {
  const startedAt = new Date();
  const { version } = JSON.parse(readFileSync(path.join(projectFolder, 'package.json'), 'utf8')) as { version: string };
  Object.assign(process.env, withSettingsFile(process.env));
  const given = readSettings(process.env);
  stopWithinMs = given.SHUTDOWN_DEADLINE_SECONDS * 1_000;
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
  const own = {
    SECRETS_KEYS: secrets.secretsKeys,
    CREDENTIAL_PEPPER: secrets.credentialPepper,
    ...(given.MODE === 'production' ? {} : { OPERATOR_KEY: secrets.operatorKey }),
    ...Object.fromEntries(Object.entries(process.env).filter(([, value]) => value?.trim())),
    ...values,
  };

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
  /** One step of the start; none begins after a stop was requested. */
  async function step<Result>(title: string, work: (note: Note) => Promise<Result>): Promise<Result> {
    life.stopping.throwIfAborted();
    return progress.step(title, work);
  }

  const temporalFolder = path.join(dataDir, 'temporal');
  // It ends while PostgreSQL starts: both take up to a second after a kill.
  const leftover = endLeftoverTemporal(temporalFolder, (text) => progress.say(`Temporal: ${text}`));
  leftover.catch(() => {}); // told where it is awaited

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

  const agreed = await requireOwnDatabase(databaseUrl, readSettings(own));
  const temporal = await step('Temporal', async (note) => {
    const chosen = await chooseTemporal({
      settings: given,
      agreed,
      folder: temporalFolder,
      leftover,
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
  let taskQueue = given.TEMPORAL_TASK_QUEUE;
  if (temporal.origin === 'found') {
    notes.push(`Temporal: the server found on ${temporal.address} is used, and will not be stopped at the end.`);
    // Others may use it too: a separate task queue keeps their tasks apart from ours.
    if (!process.env['TEMPORAL_TASK_QUEUE']) taskQueue = `agent-mailbox-${secrets.installation}`;
  }
  if (temporal.added.length > 0) notes.push(`Temporal: made ${temporal.added.join(', ')}.`);

  const everything = {
    ...own,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_TASK_QUEUE: taskQueue,
    ...(temporal.uiUrl === undefined ? {} : { TEMPORAL_UI_URL: temporal.uiUrl }),
  };
  const settings = readSettings(everything);
  for (const note of notes) log.warn(note);
  life.onStop('traces', await startTracing('agent-mailbox', process.env, settings.TRACE_ADDRESSES));
  const services = await openServices(settings, log, 'all');
  life.onStop('services', () => services.close());
  const first = await step('Database', (note) =>
    preparingAlone(
      databaseUrl,
      async () => {
        await migrate(services.db, Date.now(), () => note('a backup is being made; waiting for its end'));
        await storeAgreedSettings(services.db, settings);
        const found = await requireTemporal(temporalConnectionOptions(settings), settings.TEMPORAL_NAMESPACE, {
          mayCreateNamespace: false,
        });
        await storeAgreedTemporal(services.db, found.temporal);
        await requireOwnSecretsKeys(services);
        return ensureFirstOrganization(services, {
          ...secrets.first,
          ...(given.OWNER_PASSWORD === undefined ? {} : { password: given.OWNER_PASSWORD }),
        });
      },
      () => note('another migration is running; waiting for its end'),
    ),
  );
  if (first.apiKey === undefined)
    notes.push(
      'The database already has an organization, and its first API key is not the one in this folder (or was revoked). ' +
        'Sign in with one of its accounts and create a key.',
    );
  const signedIn = first.state === 'in_use';
  if (signedIn && first.apiKey !== undefined)
    notes.push(`Password and API key are no longer shown, because somebody has signed in; they are in ${serviceFile}.`);
  await step('Dashboard', (note) => buildDashboard(building(note)));
  await step('Documentation', (note) => buildDocumentation(building(note)));
  // For the start after a kill. It holds the process up, after an upgrade for seconds: so before anything is accepted.
  flushCompileCache();
  const all = await step('API, worker, mail', async () => {
    const started = await startAllInOne(services, life);
    notes.push(...(await awaitReady(started.apiUrl, life)));
    return started;
  });
  life.stopping.throwIfAborted();
  for (const { message } of await checkDatabase(services.db)) notes.push(`PostgreSQL: ${message}`);

  const facts: ServiceFacts = {
    apiUrl: all.apiUrl,
    email: first.email ?? null,
    password: first.password ?? null,
    apiKey: first.apiKey ?? null,
    organizationId: first.organizationId,
    ...listenerFacts(all.listeners, settings),
    temporalAddress: temporal.address,
    temporalUiUrl: temporal.uiUrl ?? null,
    databaseUrl,
    caFile,
    settings: writtenSettings(everything),
    pid: process.pid,
    startedAt: startedAt.toISOString(),
  };
  life.onStop('service.json', writeServiceFile(serviceFile, facts));
  log.info({ apiUrl: facts.apiUrl, seconds: (Date.now() - startedAt.getTime()) / 1000 }, 'running');
  process.stdout.write(
    screen(
      {
        ...facts,
        // Scripts find them in the file, which only its owner can read; a terminal has more readers.
        ...(signedIn ? { password: null, apiKey: null } : {}),
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
    stopWithinMs: () => stopWithinMs,
    onStopping(fault) {
      if (fault === undefined) {
        log?.info('stopping');
        progress.say('Stopping …');
        return;
      }
      const { error, origin } = fault;
      const reason = reasonOf(error);
      log?.fatal({ origin, reason, error: stackOf(error) }, 'stopping because of a fault');
      process.stderr.write(`\n  Agent Mailbox cannot run:\n\n${reason.replaceAll(/^/gm, '  ')}\n\n`);
      if (logFile !== undefined && existsSync(logFile) && !(error instanceof SettingsError))
        process.stderr.write(`  More in ${logFile}\n\n`);
    },
    onForced(reason) {
      progress.warn(`Ended at once (${reason}); unfinished work continues at the next start.`);
      for (const kill of forced) kill();
    },
  },
  start,
);
progress.say(process.exitCode === 0 ? 'Stopped.' : 'Ended.');
