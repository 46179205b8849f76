/**
 * A real PostgreSQL 18 from npm, supervised by the launcher, for `npm start` and for tests.
 *
 * States of the folder: absent → initdb in `data.new-…` → renamed to `data` (complete) → running (postmaster.pid) → stopped
 *
 * - An interrupted initdb leaves only a `data.new-…`, which the next start removes: `data` is always complete.
 * - PostgreSQL refuses to run as root. Then the owner of an existing cluster runs it, or `nobody`. The data stays in
 *   our folder even if that user cannot enter the folders above it: the server is started with `data` as its working
 *   directory and is told that its data is in /proc/self/cwd, which the kernel resolves without walking the path.
 * - It listens on loopback only, has no Unix socket, a random password and fsync on.
 * - A server that survived a killed launcher is recognized by postmaster.pid and its working directory, and stopped.
 */
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { type ChildEvents, type ProcessOwner, startWatched } from './child-process.ts';
import { freePort, portProblem } from './free-port.ts';
import { commandLine, endProcess, isAlive } from './instance-lock.ts';
import { type PostgresBinary, postgresBinaries } from './postgres-binaries.ts';

const HOST = '127.0.0.1';
const USER = 'app';
const DATABASE = 'agent_mailbox';
const NOBODY_ID = 65_534;
/** After a crash PostgreSQL replays its log before it is ready. */
const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 60_000;

interface EmbeddedPostgresOptions {
  /** Contains cluster, password and log. Created if missing. */
  readonly folder: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** Data that may be lost with the machine (tests): no fsync. */
  readonly disposable?: boolean;
  readonly events?: ChildEvents;
  /** Called with short progress messages. */
  onProgress?(text: string): void;
}

export interface EmbeddedPostgres {
  /** Connection string of the application's database, with its password. */
  readonly url: string;
  readonly port: number;
  readonly logFile: string;
  pid(): number;
  stop(): Promise<void>;
  /** Ends it at once; committed data is kept. */
  kill(): void;
}

/** Settings beyond PostgreSQL's own defaults. Nothing here weakens durability. */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  // Few checkpoints, and full-page images half as large: every commit waits for the log.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  // Plans made for a store that is nearly empty are kept until it is analyzed: not for a minute.
  autovacuum_naptime: '10s',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};
const DISPOSABLE_SETTINGS: Readonly<Record<string, string>> = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '64MB',
  autovacuum_naptime: '60s', // it has a database for each test file
  // Its folder may be in memory.
  max_wal_size: '256MB',
};

/** The user that runs the server; undefined: the current one. */
function serverOwner(dataFolder: string): ProcessOwner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (existsSync(dataFolder)) {
    const { uid, gid } = statSync(dataFolder);
    if (uid !== 0) return { uid, gid };
  }
  const id = (flag: string): number => {
    try {
      return Number(execFileSync('id', [flag, 'nobody'], { stdio: ['ignore', 'pipe', 'ignore'] }).toString());
    } catch {
      return NOBODY_ID;
    }
  };
  return { uid: id('-u'), gid: id('-g') };
}

/** How to name the data folder to a program whose working directory it is. */
function dataFolderArgument(dataFolder: string, owner: ProcessOwner | undefined): string {
  return owner !== undefined && existsSync('/proc/self/cwd') ? '/proc/self/cwd' : dataFolder;
}

/** Creates the cluster, once. */
async function createCluster(
  binary: PostgresBinary,
  folder: string,
  password: string,
  disposable: boolean,
): Promise<void> {
  const finished = path.join(folder, 'data');
  const owner = serverOwner(finished);
  for (const name of readdirSync(folder))
    if (name.startsWith('data.new-')) rmSync(path.join(folder, name), { recursive: true, force: true });
  const unfinished = mkdtempSync(path.join(folder, 'data.new-'));
  // initdb reads the password from a file, as the server's owner: a short-lived one that this user can read.
  const handover = path.join(tmpdir(), `agent-mailbox-${randomBytes(12).toString('hex')}`);
  writeFileSync(handover, `${password}\n`, { mode: 0o600, flag: 'wx' });
  if (owner) for (const file of [unfinished, handover]) chownSync(file, owner.uid, owner.gid);
  try {
    await promisify(execFile)(
      binary('initdb'),
      [
        ...['--pgdata', dataFolderArgument(unfinished, owner), '--username', USER],
        ...['--auth', 'scram-sha-256', '--pwfile', handover, '--encoding', 'UTF8'],
        // The built-in provider sorts and folds the same on every system, whatever locales are installed.
        ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
        ...(disposable ? ['--no-sync'] : []),
      ],
      { ...owner, cwd: unfinished },
    );
    renameSync(unfinished, finished);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    const words = error instanceof Error && 'stderr' in error ? `${error.stderr}` : String(error);
    throw new Error(`PostgreSQL could not create its data folder ${finished}:\n${words.trim()}`);
  } finally {
    rmSync(handover, { force: true });
  }
}

/** Password of the cluster, made before the first start. */
function readPassword(folder: string): string {
  const file = path.join(folder, 'password');
  if (!existsSync(file)) {
    if (existsSync(path.join(folder, 'data')))
      throw new Error(
        `${file} is missing, so the database in ${folder} cannot be opened. ` +
          'Put the file back, or move the folder away to start with an empty database.',
      );
    writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
  }
  return readFileSync(file, 'utf8').trim();
}

/** Lines of postmaster.pid: pid, data folder, start time, port, socket folder, address, shared memory, status. */
function readPostmaster(dataFolder: string): { pid: number; status: string } | undefined {
  const file = path.join(dataFolder, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  return { pid: Number(lines[0]), status: (lines[7] ?? '').trim() };
}

/** Whether this process is the server of that folder, and not a stranger that got the process id since. */
function servesFolder(pid: number, dataFolder: string): boolean {
  if (!isAlive(pid)) return false;
  try {
    if (existsSync('/proc/self/cwd')) return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataFolder);
  } catch {
    return false;
  }
  const command = commandLine(pid);
  return command.includes('postgres') && command.includes(dataFolder);
}

/** Ends a server that survived its launcher, and removes a stale pid file. */
async function endLeftover(dataFolder: string, onProgress: (text: string) => void): Promise<void> {
  const leftover = readPostmaster(dataFolder);
  if (leftover === undefined) return;
  if (servesFolder(leftover.pid, dataFolder)) {
    onProgress(`stopping the server that an earlier start left behind (process ${leftover.pid})`);
    await endProcess(leftover.pid, 'SIGINT', STOP_WITHIN_MS);
  }
  // PostgreSQL itself would refuse to start if the id now belonged to another process of the same user.
  rmSync(path.join(dataFolder, 'postmaster.pid'), { force: true });
}

async function createDatabase(port: number, password: string): Promise<void> {
  const client = new pg.Client({ host: HOST, port, user: USER, password, database: 'postgres' });
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}

/**
 * Starts PostgreSQL on a folder, creating the cluster first if there is none.
 *
 * @throws with what to do: no binaries for this platform, port taken, folder of another user, server does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, disposable = false } = options;
  const onProgress = options.onProgress ?? (() => {});
  const dataFolder = path.join(folder, 'data');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (existsSync(dataFolder)) await endLeftover(dataFolder, onProgress);
  const port = options.port === 0 ? await freePort(HOST) : options.port;
  const problem = await portProblem(port, HOST);
  if (problem !== undefined)
    throw new Error(
      `Port ${port} on ${HOST} ${problem}; the embedded PostgreSQL cannot listen there. ` +
        'Set POSTGRES_PORT to a free port, or DATABASE_URL to the PostgreSQL you want to use.',
    );
  const binary = postgresBinaries(serverOwner(dataFolder));
  const password = readPassword(folder);
  if (!existsSync(dataFolder)) {
    onProgress('creating the database');
    await createCluster(binary, folder, password, disposable);
  }
  const owner = serverOwner(dataFolder);
  const settings = { ...SERVER_SETTINGS, ...(disposable ? DISPOSABLE_SETTINGS : {}) };
  const logFile = path.join(folder, 'server.log');
  const server = await startWatched(
    {
      name: 'PostgreSQL',
      command: binary('postgres'),
      args: [
        ...['-D', dataFolderArgument(dataFolder, owner), '-p', String(port)],
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      cwd: dataFolder,
      owner,
      logFile,
      stopSignal: 'SIGINT', // fast shutdown: open transactions roll back, the rest is checkpointed
      stopWithinMs: STOP_WITHIN_MS,
      readyWithinMs: READY_WITHIN_MS,
      isReady: async (pid) => {
        const postmaster = readPostmaster(dataFolder);
        return postmaster?.pid === pid && postmaster.status === 'ready';
      },
    },
    options.events,
  );
  await createDatabase(port, password);
  return {
    url: `postgres://${USER}:${password}@${HOST}:${port}/${DATABASE}`,
    port,
    logFile,
    pid: server.pid,
    stop: server.stop,
    kill: server.kill,
  };
}
