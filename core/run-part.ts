/** The frame of the single processes (api, worker, mail): settings, log on standard error, services, readiness, end. */
import { inspect } from 'node:util';
import { pino } from 'pino';
import { requirePostgres } from './dependencies.ts';
import { startHealthServer } from './health-server.ts';
import { createLogger, type Logger } from './logger.ts';
import { type ProcessLife, runProcess } from './process-life.ts';
import { readiness } from './readiness.ts';
import { openServices, type Services } from './services.ts';
import { readSettings, SettingsError } from './settings.ts';
import type { TemporalClient } from './temporal-client.ts';

export interface Part {
  readonly name: 'api' | 'worker' | 'mail';
  /** Opens the process's edges; `life.onStop` closes them. Returns the engine's client, for the readiness. */
  start(services: Services, life: ProcessLife): Promise<TemporalClient>;
}

/** Runs one part of the service as a process of its own, configured by the environment alone. */
export async function runPart(part: Part): Promise<void> {
  let log: Logger | undefined;
  await runProcess(
    {
      log: () => log,
      onStopping(fault) {
        if (fault === undefined) log?.info({ part: part.name }, 'stopping');
        else if (fault instanceof SettingsError) process.stderr.write(`${part.name}: ${fault.message}\n`);
        else if (log === undefined)
          process.stderr.write(`${part.name}: ${fault instanceof Error ? fault.stack : inspect(fault)}\n`);
        else
          log.fatal(
            { part: part.name, error: fault instanceof Error ? fault.stack : fault },
            'stopping because of a fault',
          );
      },
    },
    async (life) => {
      const settings = readSettings(process.env);
      log = createLogger(settings.LOG_LEVEL, pino.destination({ dest: 2, sync: true }));
      if (settings.DATABASE_URL !== undefined) await requirePostgres(settings.DATABASE_URL);
      const services = await openServices(settings, log);
      life.onStop('services', () => services.close());
      if (life.stopping.aborted) return;
      const temporal = await part.start(services, life);
      const health = await startHealthServer(settings, log, () => readiness(services, temporal));
      life.onStop('health server', () => health.close());
      log.info({ part: part.name, health: health.url }, 'running');
    },
  );
}
