/**
 * A PostgreSQL server of the operating system's distribution, configured as `initdb` makes it: what an operator has who
 * changed nothing. For tests and benchmarks; the embedded server has another version, configuration and build.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { type ChildEvents, startWatched, type WatchedChild } from './child-process.ts';
import { freePort } from './free-port.ts';
import { type PostgresBinary, postgresBinaries } from './postgres-binaries.ts';

const HOST = '127.0.0.1';
const USER = 'app';
const PASSWORD = 'password';
/** Debian's and Ubuntu's. */
const DISTRIBUTION_FOLDER = '/usr/lib/postgresql';
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 60_000;
/** PostgreSQL does not run as root. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const owner = process.getuid?.() === 0 ? NOBODY : undefined;

export interface DistributionPrograms {
  /** Of the version, e.g. 15. */
  readonly major: number;
  readonly binary: PostgresBinary;
}

/** The newest of the distribution's servers, or the programs in PG_BIN; undefined: none is installed. */
export function distributionPostgres(): DistributionPrograms | undefined {
  const versions = existsSync(DISTRIBUTION_FOLDER) ? readdirSync(DISTRIBUTION_FOLDER) : [];
  const folders = versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => path.join(DISTRIBUTION_FOLDER, version, 'bin'));
  const configured = process.env['PG_BIN'];
  const folder = (configured === undefined ? folders : [configured]).find((each) =>
    existsSync(path.join(each, 'initdb')),
  );
  if (folder === undefined) return undefined;
  return programsOf((name) => path.join(folder, name));
}

/** Those of the embedded server, which a distribution server can be made of as well. */
export const embeddedPrograms = (): DistributionPrograms => programsOf(postgresBinaries(owner));

function programsOf(binary: PostgresBinary): DistributionPrograms {
  const [, major] = /\(PostgreSQL\) (\d+)/.exec(execFileSync(binary('postgres'), ['--version']).toString()) ?? [];
  return { major: Number(major), binary };
}

export interface DistributionServer extends Pick<WatchedChild, 'pid' | 'crashes' | 'stop'> {
  readonly port: number;
  readonly logFile: string;
  /** Address of a database, for its superuser. */
  url(database: string): string;
  /** Runs statements one by one, as superuser. @param database default: the maintenance database */
  run(statements: readonly string[], database?: string): Promise<void>;
}

export interface DistributionServerOptions {
  readonly programs: DistributionPrograms;
  /** Empty or absent, in a folder that everybody can enter: as root the server runs as nobody. */
  readonly folder: string;
  /** Lines that an operator would add to postgresql.conf. Default: none. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Further arguments of `initdb`. */
  readonly initdb?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly events?: ChildEvents;
  /** Default: a free one. */
  readonly port?: number;
  /** Waits before it is started again, see `ChildProgram`. */
  readonly restartDelaysMs?: readonly number[];
}

/** Starts one. */
export async function startDistributionServer(options: DistributionServerOptions): Promise<DistributionServer> {
  const { programs, folder } = options;
  const env = { ...process.env, ...options.environment };
  const data = path.join(folder, 'data');
  mkdirSync(data, { recursive: true });
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  if (owner !== undefined) for (const each of [folder, data, passwordFile]) chownSync(each, owner.uid, owner.gid);
  execFileSync(
    programs.binary('initdb'),
    [
      ...['--pgdata', data, '--username', USER, '--auth', 'scram-sha-256', '--no-sync'],
      ...['--pwfile', passwordFile],
      ...(options.initdb ?? ['--encoding', 'UTF8', '--locale', 'C.UTF-8']),
    ],
    { ...owner, cwd: data, env, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const port = options.port ?? (await freePort(HOST));
  const own = { listen_addresses: HOST, unix_socket_directories: '', ...options.settings };
  const url = (database: string) => `postgres://${USER}:${PASSWORD}@${HOST}:${port}/${database}`;

  async function run(statements: readonly string[], database = 'postgres'): Promise<void> {
    const client = new pg.Client({ connectionString: url(database) });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }

  const logFile = path.join(folder, 'server.log');
  const program = {
    name: 'PostgreSQL of the distribution',
    command: programs.binary('postgres'),
    args: [
      ...['-D', data, '-p', String(port)],
      ...Object.entries(own).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    cwd: data,
    owner,
    env,
    logFile,
    stopSignal: 'SIGINT' as const,
    stopWithinMs: STOP_WITHIN_MS,
    readyWithinMs: READY_WITHIN_MS,
    ...(options.restartDelaysMs === undefined ? {} : { restartDelaysMs: options.restartDelaysMs }),
    isReady: () =>
      run([]).then(
        () => true,
        () => false,
      ),
  };
  const server = await startWatched(program, options.events);
  const { pid, crashes, stop } = server;
  return { port, logFile, url, run, pid, crashes, stop };
}
