/**
 * The mount and process namespace in which a run lives (Linux, root), with its small disks: however it ends, the kernel
 * unmounts the disks and ends the processes. The network stays that of the machine; only loopback is used.
 *
 * The servers below the service: two PostgreSQL, and Temporal on the second. All programs of a run are started again a
 * second after they end, for ever, as an orchestrator does.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import pg from 'pg';
import { temporalProblem } from '#core/process/dependencies.ts';
import { buildWithGo } from '#dev/build/made-folder.ts';
import { cacheFolder } from '#dev/cache-folder.ts';
import { startWatched, type WatchedChild } from '#dev/launcher/child-process.ts';
import { distributionPostgres, embeddedPrograms, startDistributionServer } from '#dev/launcher/postgres-binaries.ts';
import { DYNAMIC_CONFIG } from '#dev/launcher/temporal-server.ts';
import { SEARCH_ATTRIBUTES } from '#domain/webhooks/delivery-status.ts';
import { testPort } from '#test/support/test-port.ts';

const FOLDER_VARIABLE = 'BENCH_CLUSTER_FOLDER';
const REFILL_EVERY_MS = 200;
const SHRINK_TRIES = 20;

const mountMemory = (folder: string, options: string) =>
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'bench-cluster', folder]);

/** Working folder of the run, in memory and only there inside the namespace; undefined outside of it. */
export function folderInNamespace(): string | undefined {
  const folder = process.env[FOLDER_VARIABLE];
  if (folder !== undefined) mountMemory(folder, 'mode=0755');
  return folder;
}

/** Ends the run and every process of the namespace with it: this process is its first. */
export function leaveNamespace(folder: string, code: number): never {
  execFileSync('umount', ['--lazy', folder]); // with the disks inside
  rmSync(folder, { recursive: true, force: true });
  process.exit(code);
}

/**
 * Starts the script again inside a namespace and waits for its end. SIGINT and SIGTERM let it end in good order.
 *
 * @returns its exit code
 * @throws when this machine does not let us
 */
export async function runInNamespace(script: string, args: readonly string[]): Promise<number> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error(
      'this benchmark fills disks: it mounts small file systems in a namespace of its own, which needs Linux and root. ' +
        'Run it as root, for example in a container with --privileged',
    );
  const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-cluster-'));
  const start = fileURLToPath(new URL('../../dev/start.mjs', import.meta.url));
  const child = spawn(
    'unshare',
    [
      ...['--mount', '--pid', '--fork', '--mount-proc', '--kill-child=SIGKILL'],
      ...[process.execPath, start, script, ...args],
    ],
    // Standard input is how the child notices our end: it closes with us, even by SIGKILL.
    { stdio: ['pipe', 'inherit', 'inherit'], env: { ...process.env, [FOLDER_VARIABLE]: folder } },
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.stdin?.end());
  try {
    const [code, signal] = await once(child, 'exit');
    if (signal !== null) throw new Error(`the benchmark ended by ${signal}`);
    return Number(code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A file system of limited size in memory, which is made full at once by setting its size to its present content. */
export interface SmallDisk {
  /** No byte can be added until `free`; space that its user releases is removed as well. */
  fill(): void;
  free(): void;
}

/** @param options further ones of mount(8) for a tmpfs */
export function mountSmallDisk(folder: string, sizeMegabytes: number, options = 'mode=0755'): SmallDisk {
  mkdirSync(folder, { recursive: true });
  mountMemory(folder, `size=${sizeMegabytes}m,${options}`);
  const resize = (size: string) =>
    execFileSync('mount', ['-o', `remount,size=${size}`, folder], { stdio: ['ignore', 'ignore', 'pipe'] });
  let refill: NodeJS.Timeout | undefined;
  function shrink(): void {
    for (let left = SHRINK_TRIES; ; left--) {
      const { blocks, bfree, bsize } = statfsSync(folder);
      if (bfree === 0) return;
      try {
        // Never 0, which would lift the limit for good.
        return void resize(String(Math.max(1, blocks - bfree) * bsize));
      } catch (error) {
        if (left === 0) throw error; // it grew between the two calls
      }
    }
  }
  return {
    fill() {
      shrink();
      refill ??= setInterval(shrink, REFILL_EVERY_MS);
    },
    free() {
      clearInterval(refill);
      refill = undefined;
      resize(`${sizeMegabytes}m`);
    },
  };
}

/** Of the programs of a run. */
export const RESTART_DELAYS_MS = Array.from({ length: 10_000 }, () => 1_000);

/** A program that is started again whenever it ends. */
export interface Program extends Pick<WatchedChild, 'pid' | 'crashes' | 'stop'> {
  readonly name: string;
  readonly logFile: string;
}

const HOST = '127.0.0.1';
/** Space for the data of a run, and room for longer runs. */
const DATA_MEGABYTES = 4_096;
/** Of the log (WAL), of which a new segment is needed soon. */
const LOG_MEGABYTES = 1_024;
const NOBODY = 'uid=65534,gid=65534,mode=0700';
const ANSWER_WITHIN_MS = 5_000;
const PATIENCE_MS = 60_000;
const RETRY_MS = 500;

export interface PostgresServer extends Program {
  readonly dataDisk: SmallDisk;
  /** Of the log: if it is full the server ends, where full data fails statements (SQLSTATE 53100). */
  readonly logDisk: SmallDisk;
  url(database: string): string;
  /** One statement over a connection of its own; tried again for a minute. */
  query<Row extends pg.QueryResultRow>(database: string, text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The same, once, and within five seconds. */
  ask<Row extends pg.QueryResultRow>(database: string, text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * A server of the distribution, else the embedded one, as `initdb` configures it, with data and log on small disks.
 *
 * @param folder empty or absent
 */
export async function startPostgresServer(name: string, folder: string): Promise<PostgresServer> {
  const dataDisk = mountSmallDisk(path.join(folder, 'data'), DATA_MEGABYTES, NOBODY);
  const logDisk = mountSmallDisk(path.join(folder, 'wal'), LOG_MEGABYTES, NOBODY);
  const server = await startDistributionServer({
    programs: distributionPostgres() ?? embeddedPrograms(),
    folder,
    port: await testPort(),
    initdb: [
      ...['--encoding', 'UTF8', '--locale', 'C.UTF-8'],
      ...['--waldir', path.join(folder, 'wal')],
      '--wal-segsize=1',
    ],
    // A full disk of the log shows at its next segment.
    settings: { max_wal_size: '128MB', wal_recycle: 'off' },
    restartDelaysMs: RESTART_DELAYS_MS,
  });

  async function once<Row extends pg.QueryResultRow>(
    limits: pg.ClientConfig,
    database: string,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const client = new pg.Client({ connectionString: server.url(database), ...limits });
    client.on('error', () => {}); // a server that ends during the query rejects the query as well
    try {
      await client.connect();
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }
  const ask: PostgresServer['ask'] = (...query) =>
    once({ connectionTimeoutMillis: ANSWER_WITHIN_MS, query_timeout: ANSWER_WITHIN_MS }, ...query);
  const query: PostgresServer['query'] = async (...statement) => {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;)
      try {
        return await once({ connectionTimeoutMillis: PATIENCE_MS / 4 }, ...statement);
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await delay(RETRY_MS);
      }
  };
  return { ...server, name, dataDisk, logDisk, ask, query };
}

/** The version inside the development server of `npm start`. */
export const TEMPORAL_VERSION = '1.29.1';
const NAMESPACE = 'mailbox';
/** Made by the server itself when it is set up. */
const SYSTEM_NAMESPACE = 'temporal-system';
const DATABASES = { temporal: 'postgresql/v12/temporal', temporal_visibility: 'postgresql/v12/visibility' };
const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 40_000;
/** Status of gRPC. */
const ALREADY_EXISTS = 6;

export interface TemporalServer {
  readonly address: string;
  readonly namespace: string;
  /** The running program; another one after `dropState`. */
  program(): Program;
  /** Stops it, drops and sets up its databases and starts it: without the namespace. */
  dropState(): Promise<void>;
  /** Unless it is there: the service may have made it. */
  registerNamespace(): Promise<void>;
  /** What the service must still create in an empty namespace. */
  missing(): Promise<string[]>;
}

/** Paths of the server that works on PostgreSQL, and of its schema tool; built with Go once per user (3 to 10 minutes). */
function temporalPrograms(): { server: string; sqlTool: string } {
  const folder = path.join(cacheFolder(), `temporal-server-${TEMPORAL_VERSION}`);
  const programs = { server: path.join(folder, 'server'), sqlTool: path.join(folder, 'sql') };
  if (!existsSync(folder))
    buildWithGo(
      folder,
      ['server', 'tools/sql'].map((name) => `go.temporal.io/server/cmd/${name}@v${TEMPORAL_VERSION}`),
    );
  return programs;
}

/** Frontend, history, matching and worker in one process, as small installations run it. */
export async function startTemporalServer(postgres: PostgresServer, folder: string): Promise<TemporalServer> {
  const { server, sqlTool } = temporalPrograms();
  const { port, username, password } = new URL(postgres.url(''));
  mkdirSync(folder, { recursive: true });
  const services: Record<string, { rpc: { grpcPort: number; membershipPort: number; bindOnLocalHost: true } }> = {};
  for (const name of ['frontend', 'history', 'matching', 'worker'])
    services[name] = {
      rpc: { grpcPort: await testPort(), membershipPort: await testPort(), bindOnLocalHost: true },
    };
  const address = `${HOST}:${services['frontend']?.rpc.grpcPort}`;
  const store = (databaseName: string, connections: number) => ({
    sql: {
      ...{ pluginName: 'postgres12', databaseName, connectAddr: `${HOST}:${port}`, connectProtocol: 'tcp' },
      ...{ user: username, password, maxConns: connections, maxIdleConns: connections },
    },
  });
  const dynamicConfig = path.join(folder, 'dynamic.yaml');
  // JSON is YAML.
  const write = (file: string, content: unknown) => writeFileSync(file, JSON.stringify(content));
  write(
    dynamicConfig,
    Object.fromEntries(Object.entries(DYNAMIC_CONFIG).map(([key, value]) => [key, [{ value: JSON.parse(value) }]])),
  );
  write(path.join(folder, 'cluster.yaml'), {
    log: { stdout: true, level: 'error' },
    persistence: {
      ...{ defaultStore: 'default', visibilityStore: 'visibility', numHistoryShards: 4 },
      // Of each of the four services; a distribution's server accepts 100 connections.
      datastores: { default: store('temporal', 14), visibility: store('temporal_visibility', 6) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: HOST } },
    services,
    clusterMetadata: {
      ...{ enableGlobalNamespace: false, failoverVersionIncrement: 10 },
      ...{ masterClusterName: 'active', currentClusterName: 'active' },
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: address },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicConfig, pollInterval: '60s' },
  });

  async function start(): Promise<Program> {
    for (const [name, schema] of Object.entries(DATABASES)) {
      const tool = (...args: string[]) =>
        promisify(execFile)(sqlTool, [
          ...['--plugin', 'postgres12', '--endpoint', HOST, '--port', port],
          ...['--user', username, '--password', password, '--database', name, ...args],
        ]);
      await postgres.query('postgres', `drop database if exists ${name} with (force)`);
      await postgres.query('postgres', `create database ${name}`);
      await tool('setup-schema', '--version', '0.0');
      await tool('update-schema', '--schema-name', schema);
    }
    const program = {
      name: 'Temporal',
      command: server,
      args: ['--root', folder, '--config', '.', '--env', 'cluster', '--allow-no-auth', 'start'],
      cwd: folder,
      logFile: path.join(folder, 'server.log'),
      stopSignal: 'SIGTERM' as const,
      stopWithinMs: STOP_WITHIN_MS,
      readyWithinMs: READY_WITHIN_MS,
      restartDelaysMs: RESTART_DELAYS_MS,
      isReady: async () => (await temporalProblem({ address }, SYSTEM_NAMESPACE, ANSWER_WITHIN_MS)) === undefined,
    };
    return { ...(await startWatched(program)), name: program.name, logFile: program.logFile };
  }
  async function connected<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const connection = await Connection.connect({ address, connectTimeout: ANSWER_WITHIN_MS });
    try {
      return await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () => work(connection));
    } finally {
      await connection.close();
    }
  }
  let program = await start();
  return {
    address,
    namespace: NAMESPACE,
    program: () => program,
    async dropState() {
      await program.stop();
      program = await start();
    },
    async registerNamespace() {
      await connected(({ workflowService }) =>
        workflowService
          .registerNamespace({ namespace: NAMESPACE, workflowExecutionRetentionPeriod: msToTs('1 day') })
          .catch((error: unknown) => {
            if (!(error instanceof Error && 'code' in error && error.code === ALREADY_EXISTS)) throw error;
          }),
      );
      // The server's own cache of namespaces contains it some seconds later.
      const deadline = Date.now() + PATIENCE_MS;
      while ((await temporalProblem({ address }, NAMESPACE, ANSWER_WITHIN_MS)) !== undefined) {
        if (Date.now() > deadline) throw new Error(`Temporal did not know the namespace ${NAMESPACE} in time`);
        await delay(RETRY_MS);
      }
    },
    missing: () =>
      connected(async ({ operatorService, workflowService }) => {
        const { customAttributes } = await operatorService.listSearchAttributes({ namespace: NAMESPACE });
        const { schedules } = await workflowService.listSchedules({ namespace: NAMESPACE });
        return [
          ...Object.keys(SEARCH_ATTRIBUTES).filter((name) => customAttributes[name] === undefined),
          ...((schedules ?? []).length === 0 ? ['Schedule of the retention'] : []),
        ];
      }),
  };
}
