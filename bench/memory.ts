/** Memory of processes, read from /proc (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

/** Megabytes of a process and its children, where shared memory counts once (proportional set size). */
export function memoryMegabytes(pid: number): number {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
  return [String(pid), ...children].reduce((sum, each) => sum + proportionalKilobytes(each), 0) / 1_024;
}

function parentOf(pid: string): number {
  const [, parent] = /^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return Number(parent);
}

function proportionalKilobytes(pid: string): number {
  const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`)) ?? [];
  return Number(kilobytes ?? 0);
}

/** Empty when the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
