/**
 * The environment of a scenario: PostgreSQL with fsync, a Temporal server, the service, the load maker and the sink,
 * each a separate process on a free port, with their data in a temporary folder that is removed at the end.
 */
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { migrate } from '#db/migrate.ts';
import type { ChildEvents } from '#dev/launcher/child-process.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#dev/launcher/embedded-postgres.ts';
import { distributionPostgres, startDistributionServer } from '#dev/launcher/postgres-binaries.ts';
import { temporalProgram } from '#dev/launcher/temporal-program.ts';
import { startTemporalServer, type TemporalServer } from '#dev/launcher/temporal-server.ts';
import { insertDeliveries } from '#test/support/many-rows.ts';
import { workflowBundle } from '#worker/bundle.ts';
import { developmentCertificates } from '../operations/certificates.ts';
import { type Child, startChild } from './child-calls.ts';
import type { LoadMakerCalls } from './load-maker.ts';
import { cpuSeconds, machineCpuSeconds } from './processes.ts';
import type { ServiceCalls } from './service.ts';
import type { SinkCalls } from './sink.ts';
import { createSubscribers, SUBSCRIBER_MAIL_DOMAIN } from './subscribers.ts';

export interface CpuSeconds {
  readonly service: number;
  readonly postgres: number;
  readonly temporal: number;
  /** Sink, load maker and the benchmark itself. */
  readonly load: number;
  /** CPU time of all processes of the machine, and steal time of its host. */
  readonly machine: number;
}

/** Processes that a scenario may kill. */
export type Part = 'service' | 'PostgreSQL' | 'Temporal';

export interface World {
  /** On the same database as the service, for rows and questions. */
  readonly services: Services;
  readonly temporal: TemporalClient;
  readonly temporalServer: TemporalServer;
  readonly postgres: Pick<EmbeddedPostgres, 'url' | 'pid' | 'stop'>;
  readonly sink: Child<SinkCalls>;
  readonly loadMaker: Child<LoadMakerCalls>;
  /** That of the moment: a scenario may have killed the one before. */
  service(): Child<ServiceCalls>;
  /** SIGKILL. Resolves when the part runs again. */
  crash(part: Part): Promise<void>;
  /** Address of an endpoint at the sink; see `sink.ts` for the paths. */
  url(sinkPath: string): string;
  cpu(): CpuSeconds;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** Lets PostgreSQL count the time of every statement (pg_stat_statements), which costs a little. */
  readonly statementStatistics: boolean;
  /** That of `npm start`, or one of the operating system with the configuration that its `initdb` makes. */
  readonly server: 'embedded' | 'distribution';
  /** Finished deliveries of another organization that are in the tables before. */
  readonly filled: number;
}

const DATABASE = 'agent_mailbox';

export async function openWorld(say: (text: string) => void, options: WorldOptions): Promise<World> {
  const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-bench-'));
  const toClose: (() => Promise<unknown>)[] = [];
  async function close(): Promise<void> {
    for (const each of toClose.toReversed()) await each().catch((error: Error) => say(error.message));
    rmSync(folder, { recursive: true, force: true });
  }
  try {
    const restarts = new EventEmitter();
    const eventsOf = (part: Part) => ({
      onCrash: say,
      onRestarted: () => void restarts.emit(part),
      onGivenUp: (error: Error) => say(error.message),
    });
    const startPostgres = (): Promise<World['postgres']> =>
      options.server === 'distribution'
        ? startOfDistribution(path.join(folder, 'postgres'), eventsOf('PostgreSQL'))
        : startEmbeddedPostgres({ folder: path.join(folder, 'postgres'), port: 0, events: eventsOf('PostgreSQL') });
    let postgres = await startPostgres();
    if (options.statementStatistics) {
      await countStatements(postgres.url);
      await postgres.stop();
      postgres = await startPostgres();
    }
    toClose.push(() => postgres.stop());
    const program = await temporalProgram({ configured: process.env['TEMPORAL_CLI'], onProgress: say });
    const temporalServer = await startTemporalServer({
      program,
      folder: path.join(folder, 'temporal'),
      port: 0,
      namespace: 'default',
      events: eventsOf('Temporal'),
    });
    toClose.push(() => temporalServer.stop());
    await workflowBundle();

    const tls = developmentCertificates(path.join(folder, 'tls'), []);
    const sink = await startChild<SinkCalls>(new URL('./sink.ts', import.meta.url), {
      SINK_CERT: tls.certFile,
      SINK_KEY: tls.keyFile,
    });
    toClose.push(() => sink.stop());
    const port = await sink.call('port', undefined);

    const loadMaker = await startChild<LoadMakerCalls>(new URL('./load-maker.ts', import.meta.url), {});
    toClose.push(() => loadMaker.stop());

    const environment = {
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'warn',
      DATA_DIR: path.join(folder, 'service'),
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporalServer.address,
      SECRETS_KEYS: `bench:${randomBytes(32).toString('base64')}`,
      CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
      METRICS_PORT: '0',
      API_PORT: '0',
      SMTP_PORT: '0',
      MAIL_DOMAIN: SUBSCRIBER_MAIL_DOMAIN,
      TLS_CERT: tls.certFile,
      TLS_KEY: tls.keyFile,
      WEBHOOK_ALLOW_DESTINATIONS: '127.0.0.0/8,::1/128',
      WEBHOOK_EXTRA_CA: tls.caFile,
    };
    const settings = readSettings({ ...environment, DATABASE_POOL_MAX: '5' });
    const services = await openServices(settings, createLogger('warn', pino.destination({ dest: 2, sync: true })));
    toClose.push(() => services.close());
    await migrate(services.db);
    if (options.statementStatistics) await services.db.query('create extension pg_stat_statements');
    if (options.filled > 0) await fill(services, options.filled);
    const temporal = connectTemporal(settings);
    toClose.push(() => temporal.close());

    let service: Child<ServiceCalls> | undefined;
    const startService = async () => {
      service = await startChild<ServiceCalls>(new URL('./service.ts', import.meta.url), environment);
    };
    await startService();
    toClose.push(async () => service?.stop());
    return {
      services,
      temporal,
      temporalServer,
      postgres,
      sink,
      loadMaker,
      service() {
        if (service === undefined) throw new Error('the service is not started');
        return service;
      },
      async crash(part) {
        if (part === 'service') {
          await service?.kill();
          return startService();
        }
        const restarted = once(restarts, part);
        process.kill(part === 'PostgreSQL' ? postgres.pid() : temporalServer.pid(), 'SIGKILL');
        await restarted;
      },
      url: (sinkPath) => `https://localhost:${port}${sinkPath}`,
      cpu: () => ({
        service: service === undefined ? 0 : cpuSeconds(service.pid),
        postgres: cpuSeconds(postgres.pid()),
        temporal: cpuSeconds(temporalServer.pid()),
        load: cpuSeconds(sink.pid) + cpuSeconds(loadMaker.pid) + ownCpuSeconds(),
        machine: machineCpuSeconds(),
      }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startOfDistribution(folder: string, events: ChildEvents): Promise<World['postgres']> {
  const programs = distributionPostgres();
  if (programs === undefined)
    throw new Error('no PostgreSQL of the distribution: `apt-get install postgresql`, or set PG_BIN');
  chmodSync(path.dirname(folder), 0o711); // as root, another user runs it
  const server = await startDistributionServer({ programs, folder, events });
  await server.run([`create database ${DATABASE}`]);
  return { url: server.url(DATABASE), pid: server.pid, stop: server.stop };
}

async function fill(services: Services, count: number): Promise<void> {
  const [other] = await createSubscribers(services, { organizations: 1, mailboxesEach: 1, urls: () => [] });
  if (other === undefined) throw new Error('no organization was made');
  await insertDeliveries((text, values) => services.db.query(text, values), other.organization.id, count);
}

/** Takes effect at the next start. */
async function countStatements(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await client.query(`alter system set pg_stat_statements.track_planning = on`);
  await client.end();
}

function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
