/** CPU time, memory and descendants of processes, read from /proc (Linux). */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']).toString());

interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  /** CPU seconds of the process itself. */
  readonly own: number;
  /** Seconds of children that have ended. */
  readonly ended: number;
}

/** Empty when the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function timesOf(pid: string): ProcessTimes | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  // proc(5): the second field is a name in parentheses that may hold anything; state is the third.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map((n) => fields[n]);
  return {
    pid: Number(pid),
    parent,
    own: (user + system) / ticksPerSecond,
    ended: (endedUser + endedSystem) / ticksPerSecond,
  };
}

/** All processes that this one can see; in a process namespace those of the namespace. */
const processes = (): ProcessTimes[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => timesOf(name) ?? []);

const sumOf = (all: readonly ProcessTimes[]): number => all.reduce((sum, { own, ended }) => sum + own + ended, 0);

/** Seconds of user and system time a process and its children have used so far, ended ones included. */
export function cpuSeconds(pid: number): number {
  const all = processes();
  return all.some((each) => each.pid === pid)
    ? sumOf(all.filter((each) => each.pid === pid || each.parent === pid))
    : 0;
}

/** Seconds all processes that this one can see have used so far. */
export const visibleCpuSeconds = (): number => sumOf(processes());

/** Seconds all processes of the machine have used so far, and what its host gave to other machines instead (steal). */
export function machineCpuSeconds(): number {
  // proc(5): user, nice, system, idle, iowait, irq, softirq, steal
  const [, times = ''] = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? [];
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = times.split(' ').map(Number);
  return (user + nice + system + irq + softirq + steal) / ticksPerSecond;
}

/** Megabytes of a process and its children, where shared memory counts once (proportional set size). */
export function memoryMegabytes(pid: number): number {
  const kilobytes = processes()
    .filter((each) => each.pid === pid || each.parent === pid)
    .map((each) => Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${each.pid}/smaps_rollup`))?.[1] ?? 0));
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1_024;
}

/** To the process and all its descendants, as a container's end or freezer reaches them. Ended ones are passed over. */
export function signalTree(pid: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  const all = processes();
  const tree = [pid];
  for (const parent of tree) tree.push(...all.filter((each) => each.parent === parent).map((each) => each.pid));
  for (const each of tree)
    try {
      process.kill(each, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
}
