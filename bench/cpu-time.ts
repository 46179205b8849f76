/** CPU time of processes, read from /proc (Linux). */
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

function timesOf(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc(5): the second field is a name in parentheses that may hold anything; state is the third.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map(
      (n) => fields[n],
    );
    return { pid, parent, own: (user + system) / ticksPerSecond, ended: (endedUser + endedSystem) / ticksPerSecond };
  } catch {
    return undefined; // it has ended
  }
}

/** Seconds of user and system time a process and its children have used so far, ended ones included. */
export function cpuSeconds(pid: number): number {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => timesOf(Number(name)) ?? []);
  const root = all.find((each) => each.pid === pid);
  if (root === undefined) return 0;
  const children = all.filter((each) => each.parent === pid);
  return root.own + root.ended + children.reduce((sum, child) => sum + child.own + child.ended, 0);
}

/** Seconds all processes that this one can see have used so far; in a process namespace those of the namespace. */
export function visibleCpuSeconds(): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => timesOf(Number(name)) ?? [])
    .reduce((sum, { own, ended }) => sum + own + ended, 0);
}

/** Seconds all processes of the machine have used so far, and what its host gave to other machines instead (steal). */
export function machineCpuSeconds(): number {
  // proc(5): user, nice, system, idle, iowait, irq, softirq, steal
  const [, times = ''] = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? [];
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = times.split(' ').map(Number);
  return (user + nice + system + irq + softirq + steal) / ticksPerSecond;
}
