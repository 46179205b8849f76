/**
 * A PostgreSQL server apart from the service, its data on one small disk and its write-ahead log on another: a full
 * disk of data fails statements (SQLSTATE 53100), a full disk of the log ends the server. It uses the programs of the
 * distribution, else the embedded ones, with the configuration that the distribution's `initdb` makes.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { distributionPostgres, embeddedPrograms } from '#dev/distribution-postgres.ts';
import { serverPort } from './server-ports.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import { type Supervised, startSupervised } from './supervised.ts';

const HOST = '127.0.0.1';
const USER = 'app';
const PASSWORD = 'bench';
const NOBODY = { uid: 65_534, gid: 65_534 };
/** Of the log, of which a new segment is needed soon. */
const LOG_DISK_MEGABYTES = 1_024;
const LOG_SEGMENT_MEGABYTES = 1;
const READY_WITHIN_MS = 600_000;
const ANSWER_WITHIN_MS = 3_000;
const PATIENCE_MS = 60_000;
const RETRY_MS = 500;

/** Where it listens, and what the small disk of the log needs. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  max_wal_size: '128MB',
  wal_recycle: 'off', // a full disk of the log shows at its next segment
};

export interface PostgresServer extends Supervised {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly disk: SmallDisk;
  /** That of the write-ahead log. */
  readonly logDisk: SmallDisk;
  url(database: string): string;
  /** One statement over a connection of its own; tried again for a minute. */
  query<Row extends pg.QueryResultRow>(database: string, text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The same, once, and within three seconds. */
  ask<Row extends pg.QueryResultRow>(database: string, text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export async function startPostgresServer(options: {
  readonly name: string;
  readonly folder: string;
  readonly diskMegabytes: number;
}): Promise<PostgresServer> {
  const { name, folder } = options;
  mkdirSync(folder, { recursive: true });
  const disk = mountSmallDisk(path.join(folder, 'disk'), options.diskMegabytes);
  const logDisk = mountSmallDisk(path.join(folder, 'log-disk'), LOG_DISK_MEGABYTES);
  const [data, log] = [path.join(disk.folder, 'data'), path.join(logDisk.folder, 'log')];
  for (const each of [data, log]) mkdirSync(each);
  const passwordFile = path.join(disk.folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  for (const each of [data, log, passwordFile]) chownSync(each, NOBODY.uid, NOBODY.gid);
  const { binary: program } = distributionPostgres() ?? embeddedPrograms();
  execFileSync(
    program('initdb'),
    [
      ...['--pgdata', data, '--waldir', log, '--username', USER, '--auth', 'scram-sha-256', '--encoding', 'UTF8'],
      ...['--pwfile', passwordFile, '--locale', 'C.UTF-8', '--no-sync'],
      ...['--wal-segsize', String(LOG_SEGMENT_MEGABYTES)],
    ],
    { ...NOBODY, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const port = await serverPort();
  const url = (database: string) => `postgres://${USER}:${PASSWORD}@${HOST}:${port}/${database}`;

  async function once<Row extends pg.QueryResultRow>(
    database: string,
    text: string,
    values: readonly unknown[],
    limits: Pick<pg.ClientConfig, 'connectionTimeoutMillis' | 'query_timeout'>,
  ): Promise<Row[]> {
    const client = new pg.Client({ connectionString: url(database), ...limits });
    client.on('error', () => {}); // a server that ends during the query rejects the query as well
    try {
      await client.connect();
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  const ask: PostgresServer['ask'] = (database, text, values = []) =>
    once(database, text, values, { connectionTimeoutMillis: ANSWER_WITHIN_MS, query_timeout: ANSWER_WITHIN_MS });

  async function query<Row extends pg.QueryResultRow>(
    database: string,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;)
      try {
        return await once<Row>(database, text, values, { connectionTimeoutMillis: PATIENCE_MS / 4 });
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await delay(RETRY_MS);
      }
  }

  const server = await startSupervised({
    name,
    command: program('postgres'),
    args: [
      ...['-D', data, '-p', String(port)],
      ...Object.entries(SETTINGS).flatMap(([setting, value]) => ['-c', `${setting}=${value}`]),
    ],
    cwd: data,
    owner: NOBODY,
    logFile: path.join(folder, 'server.log'),
    stopSignal: 'SIGINT',
    readyWithinMs: READY_WITHIN_MS,
    async isReady() {
      await ask('postgres', 'select 1');
      return true;
    },
  });
  return {
    ...server,
    port,
    user: USER,
    password: PASSWORD,
    disk,
    logDisk,
    url,
    query,
    ask,
    async stop() {
      for (const each of [disk, logDisk]) each.free();
      await server.stop();
      for (const each of [disk, logDisk]) each.unmount();
    },
  };
}
