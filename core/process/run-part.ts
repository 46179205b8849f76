/** The frame of the single processes (api, worker, mail): settings, log on standard error, services, readiness, end. */

import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { createLogger, type Logger, logDestination } from '#core/platform/log/logger.ts';
import { type ProcessLife, runProcess, stackOf } from '#core/platform/process/process-life.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { hasAgreedSettings } from '#core/platform/settings/agreed-settings.ts';
import { readSettings, SettingsError } from '#core/platform/settings/settings.ts';
import { withSettingsFile } from '#core/platform/settings/settings-file.ts';
import { startTracing } from '#core/platform/tracing/start-tracing.ts';
import { isPreparing, pendingMigrations } from '#db/migrate.ts';
import { requirePostgres } from './dependencies.ts';
import { logStartFindings, openDiagnosis } from './diagnosis/diagnose.ts';
import { openMetrics } from './expose-metrics.ts';
import { startHealthServer } from './health-server.ts';
import { openReadiness, type ReadinessMonitor } from './readiness.ts';
import { requireOwnInstallation } from './start-checks.ts';

const STANDARD_ERROR = 2;
const MIGRATIONS_POLL_MS = 1_000;
/** While the setting is not known. */
const STOP_WITHOUT_SETTINGS_MS = 10_000;

export interface Part {
  readonly name: 'api' | 'worker' | 'mail';
  /** Opens the process's edges; `life.onStop` closes them. `readiness` is given Temporal's client and the worker. */
  start(services: Services, life: ProcessLife, readiness: ReadinessMonitor): Promise<void>;
}

/** Runs one part of the service as a process of its own, configured by the environment alone. */
export async function runPart(part: Part): Promise<void> {
  let log: Logger | undefined;
  let stopWithinMs = STOP_WITHOUT_SETTINGS_MS;
  await runProcess(
    {
      log: () => log,
      stopWithinMs: () => stopWithinMs,
      onStopping(fault) {
        if (fault === undefined) return log?.info({ part: part.name }, 'stopping');
        const { error, origin } = fault;
        if (error instanceof SettingsError) process.stderr.write(`${part.name}: ${error.message}\n`);
        else if (log === undefined) process.stderr.write(`${part.name}: ${stackOf(error) ?? reasonOf(error)}\n`);
        else
          log.fatal(
            { part: part.name, origin, reason: reasonOf(error), error: stackOf(error) },
            'stopping because of an error',
          );
      },
    },
    async (life) => {
      Object.assign(process.env, withSettingsFile(process.env));
      const settings = readSettings(process.env);
      stopWithinMs = settings.SHUTDOWN_DEADLINE_SECONDS * 1_000;
      log = createLogger(settings.LOG_LEVEL, logDestination(STANDARD_ERROR));
      if (settings.DATABASE_URL !== undefined) await requirePostgres(settings.DATABASE_URL);
      life.onStop('traces', await startTracing(`agent-mailbox-${part.name}`, process.env, settings.TRACE_ADDRESSES));
      const services = await openServices(settings, log, part.name);
      life.onStop('services', () => services.close());
      const readiness = openReadiness(services, part.name);
      life.onStop('readiness', () => readiness.close());
      // First of all: a waiting process must log what it waits for.
      const health = await startHealthServer(
        settings,
        log,
        readiness.current,
        openDiagnosis(services, part.name),
        openMetrics(services, part.name),
      );
      life.onStop('health server', () => health.close());
      await awaitMigrations(services, life.stopping);
      if (life.stopping.aborted) return;
      await requireOwnInstallation(services);
      await logStartFindings(services, log);
      await part.start(services, life, readiness);
      // Warnings are logged before the line that says it runs.
      await readiness.current();
      log.info({ part: part.name, health: health.url }, 'running');
    },
  );
}

/** A process that is started with a migration, or before it, waits: with an older schema its statements would fail. */
async function awaitMigrations({ db, log }: Services, stopping: AbortSignal): Promise<void> {
  for (let waiting = false; !stopping.aborted; waiting = true) {
    const pending = await pendingMigrations(db);
    // A first migration writes the settings after the schema.
    if (pending.length === 0 && ((await hasAgreedSettings(db)) || !(await isPreparing(db)))) {
      if (waiting) log.info('the database is migrated');
      return;
    }
    if (!waiting) log.warn({ pending }, 'waiting for the database to be migrated: run `npm run migrate`');
    await sleep(MIGRATIONS_POLL_MS, undefined, { signal: stopping }).catch(() => {});
  }
}
