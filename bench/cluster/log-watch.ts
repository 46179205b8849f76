/** New lines in the logs of the service's processes. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ServiceProcess } from './service-processes.ts';

export interface LogLines {
  readonly process: string;
  readonly lines: number;
  /** Lines of warnings, errors and fatal ones, by their text. */
  readonly problems: ReadonlyMap<string, number>;
}

export interface LogWatch {
  /** Lines since the last call. */
  read(): LogLines[];
}

const WARN = 40;

function problemOf(line: string): string | undefined {
  try {
    const { level, msg } = JSON.parse(line) as { level?: unknown; msg?: unknown };
    return Number(level) >= WARN ? String(msg) : undefined;
  } catch {
    return `not JSON: ${line.slice(0, 80)}`;
  }
}

export function watchLogs(processes: readonly ServiceProcess[]): LogWatch {
  const offsets = new Map<string, number>();
  function newText(file: string): string {
    if (!existsSync(file)) return '';
    const descriptor = openSync(file, 'r');
    try {
      const { size } = fstatSync(descriptor);
      const before = offsets.get(file) ?? 0;
      const from = before > size ? 0 : before; // cut off when it had grown large
      const bytes = Buffer.alloc(size - from);
      readSync(descriptor, bytes, 0, bytes.length, from);
      const whole = bytes.lastIndexOf('\n') + 1;
      offsets.set(file, from + whole);
      return bytes.toString('utf8', 0, whole);
    } finally {
      closeSync(descriptor);
    }
  }
  const watch: LogWatch = {
    read: () =>
      processes.map(({ name, logFile }) => {
        const lines = newText(logFile)
          .split('\n')
          .filter((line) => line !== '');
        const problems = new Map<string, number>();
        for (const problem of lines.map(problemOf))
          if (problem !== undefined) problems.set(problem, (problems.get(problem) ?? 0) + 1);
        return { process: name, lines: lines.length, problems };
      }),
  };
  watch.read();
  return watch;
}
