/**
 * One start at a time for a data folder: `DATA_DIR/start.lock` contains the process id of the running one.
 *
 * The file is linked into place in one step. A lock whose process has ended (or whose id now belongs to another
 * program) is moved aside and checked again before it is deleted, so that of two starts that find it only one
 * continues. Processes that an earlier start left behind are found without trusting that a process id still belongs to the
 * same process.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 25;

/** Whether a process with this id runs, of any owner. A zombie does not run. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    return !existsSync(stat) || !/^\d+ \(.*\) Z /s.test(readFileSync(stat, 'utf8'));
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH' && error.code !== 'ENOENT';
  }
}

/** Command line of a process, arguments separated by blanks; empty when it cannot be read. */
export function commandLine(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline'))
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return '';
  }
}

/** Asks a process to end, waits, and kills it if it does not end. */
export async function endProcess(pid: number, signal: 'SIGINT' | 'SIGTERM', withinMs: number): Promise<void> {
  const send = (each: NodeJS.Signals) => {
    try {
      process.kill(pid, each);
    } catch {
      // It has ended meanwhile.
    }
  };
  const gone = async (ms: number) => {
    const deadline = Date.now() + ms;
    while (isAlive(pid) && Date.now() < deadline) await delay(POLL_MS);
    return !isAlive(pid);
  };
  send(signal);
  if (await gone(withinMs)) return;
  send('SIGKILL');
  await gone(withinMs);
}

/** Part of the command line of every start, and of the operators' command, which starts the database of a stopped one. */
const PROGRAMS = /up\.ts|admin\.ts|agent-mailbox-admin/;

export class AlreadyRunningError extends Error {
  readonly pid: number;
  constructor(pid: number, folder: string) {
    super(
      `Agent Mailbox already runs on ${folder} (process ${pid}). ` +
        'Stop that one first (Ctrl-C in its terminal), or start another with its own DATA_DIR and ports.',
    );
    this.pid = pid;
  }
}

const isNew = (error: unknown): boolean => !(error instanceof Error && 'code' in error && error.code === 'EEXIST');
const runs = (pid: number): boolean => Number.isInteger(pid) && isAlive(pid) && PROGRAMS.test(commandLine(pid));

function readPid(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return Number.NaN;
  }
}

/**
 * Takes the lock.
 *
 * @returns a function that releases it
 * @throws {AlreadyRunningError} if another start holds it
 */
export function takeInstanceLock(folder: string): () => void {
  const lock = path.join(folder, 'start.lock');
  const mine = `${lock}.${process.pid}`;
  const aside = `${lock}.old.${process.pid}`;
  writeFileSync(mine, String(process.pid), { mode: 0o600 });
  try {
    for (;;) {
      try {
        linkSync(mine, lock);
        return () => rmSync(lock, { force: true });
      } catch (error) {
        if (isNew(error)) throw error;
      }
      const holder = readPid(lock);
      if (runs(holder)) throw new AlreadyRunningError(holder, folder);
      try {
        renameSync(lock, aside);
      } catch {
        continue; // Another start was quicker.
      }
      const moved = readPid(aside);
      if (runs(moved)) {
        // That was the fresh lock of another start: put it back.
        linkSync(aside, lock);
        throw new AlreadyRunningError(moved, folder);
      }
    }
  } finally {
    rmSync(mine, { force: true });
    rmSync(aside, { force: true });
  }
}
