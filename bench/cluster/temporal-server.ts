/**
 * A Temporal server on PostgreSQL: frontend, history, matching and worker in one process, as small installations run
 * it. Its operator creates the namespace, the service its search attributes and Schedules.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { temporalProblem } from '#core/process/dependencies.ts';
import { DYNAMIC_CONFIG } from '#dev/temporal-server.ts';
import type { PostgresServer } from './postgres-server.ts';
import { serverPort } from './server-ports.ts';
import { type Supervised, startSupervised } from './supervised.ts';
import { type TemporalPrograms, temporalPrograms } from './temporal-programs.ts';

const HOST = '127.0.0.1';
const NAMESPACE = 'mailbox';
/** Made by the server itself when it is set up. */
const SYSTEM_NAMESPACE = 'temporal-system';
const DATABASES = [
  { name: 'temporal', schema: 'postgresql/v12/temporal' },
  { name: 'temporal_visibility', schema: 'postgresql/v12/visibility' },
] as const;
const SERVICES = ['frontend', 'history', 'matching', 'worker'] as const;
const READY_WITHIN_MS = 120_000;
const ANSWER_WITHIN_MS = 5_000;
const NAMESPACE_WITHIN_MS = 60_000;
const RETENTION = '1 day';
/** Status of gRPC. */
const ALREADY_EXISTS = 6;

export interface TemporalServer {
  readonly address: string;
  readonly namespace: string;
  /** The running program; another one after `dropState`. */
  program(): Supervised;
  /** Stops it, drops and sets up its databases and starts it: without the namespace. */
  dropState(): Promise<void>;
  /** Unless it is there: the service may have made it. */
  registerNamespace(): Promise<void>;
  stop(): Promise<void>;
}

interface ServicePorts {
  readonly rpc: number;
  readonly membership: number;
}

function configuration(postgres: PostgresServer, ports: ReadonlyMap<string, ServicePorts>, folder: string): object {
  const store = (databaseName: string, connections: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `${HOST}:${postgres.port}`,
      connectProtocol: 'tcp',
      user: postgres.user,
      password: postgres.password,
      maxConns: connections,
      maxIdleConns: connections,
    },
  });
  return {
    log: { stdout: true, level: 'error' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 4,
      // Of each of the four services; a distribution's server accepts 100 connections.
      datastores: { default: store('temporal', 14), visibility: store('temporal_visibility', 6) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: HOST } },
    services: Object.fromEntries(
      [...ports].map(([name, { rpc, membership }]) => [
        name,
        { rpc: { grpcPort: rpc, membershipPort: membership, bindOnLocalHost: true } },
      ]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `${HOST}:${ports.get('frontend')?.rpc}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: path.join(folder, 'dynamic.yaml'), pollInterval: '60s' },
  };
}

async function setUpDatabases({ sqlTool }: TemporalPrograms, postgres: PostgresServer): Promise<void> {
  for (const { name, schema } of DATABASES) {
    const tool = (...args: string[]) =>
      promisify(execFile)(sqlTool, [
        ...['--plugin', 'postgres12', '--endpoint', HOST, '--port', String(postgres.port)],
        ...['--user', postgres.user, '--password', postgres.password, '--database', name, ...args],
      ]);
    await postgres.query('postgres', `drop database if exists ${name} with (force)`);
    await postgres.query('postgres', `create database ${name}`);
    await tool('setup-schema', '--version', '0.0');
    await tool('update-schema', '--schema-name', schema);
  }
}

export async function startTemporalServer(
  postgres: PostgresServer,
  folder: string,
  say: (text: string) => void,
): Promise<TemporalServer> {
  const programs = await temporalPrograms(say);
  mkdirSync(folder, { recursive: true });
  const ports = new Map<string, ServicePorts>();
  for (const name of SERVICES) ports.set(name, { rpc: await serverPort(), membership: await serverPort() });
  const address = `${HOST}:${ports.get('frontend')?.rpc}`;
  // JSON is YAML.
  writeFileSync(path.join(folder, 'cluster.yaml'), JSON.stringify(configuration(postgres, ports, folder)));
  writeFileSync(
    path.join(folder, 'dynamic.yaml'),
    JSON.stringify(
      Object.fromEntries(Object.entries(DYNAMIC_CONFIG).map(([key, value]) => [key, [{ value: JSON.parse(value) }]])),
    ),
  );
  const start = () =>
    startSupervised({
      name: 'Temporal',
      command: programs.server,
      args: ['--root', folder, '--config', '.', '--env', 'cluster', '--allow-no-auth', 'start'],
      cwd: folder,
      logFile: path.join(folder, 'server.log'),
      readyWithinMs: READY_WITHIN_MS,
      isReady: async () => (await temporalProblem({ address }, SYSTEM_NAMESPACE, ANSWER_WITHIN_MS)) === undefined,
    });
  await setUpDatabases(programs, postgres);
  let program = await start();
  return {
    address,
    namespace: NAMESPACE,
    program: () => program,
    async dropState() {
      await program.stop();
      await setUpDatabases(programs, postgres);
      program = await start();
    },
    async registerNamespace() {
      const deadline = Date.now() + NAMESPACE_WITHIN_MS;
      const connection = await Connection.connect({ address, connectTimeout: ANSWER_WITHIN_MS });
      try {
        await connection.workflowService
          .registerNamespace({ namespace: NAMESPACE, workflowExecutionRetentionPeriod: msToTs(RETENTION) })
          .catch((error: unknown) => {
            if (!(error instanceof Error && 'code' in error && error.code === ALREADY_EXISTS)) throw error;
          });
      } finally {
        await connection.close();
      }
      // The server's own cache of namespaces contains it some seconds later.
      while ((await temporalProblem({ address }, NAMESPACE, ANSWER_WITHIN_MS)) !== undefined) {
        if (Date.now() > deadline) throw new Error(`Temporal did not know the namespace ${NAMESPACE} in time`);
        await delay(200);
      }
    },
    stop: () => program.stop(),
  };
}
