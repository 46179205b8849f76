/**
 * Finds processes that an earlier start left behind, without trusting that a process id still belongs to the same
 * process.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
