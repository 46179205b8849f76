/**
 * Which programs of a run take the time of processors: `npm test -- --times` lists it, on Linux. All descendants of this
 * process are looked at twice a second in /proc. What ended unseen is known as a sum: the kernel adds the time of a
 * process to its parent's.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const LOOK_EVERY_MS = 500;
/** Of times in /proc; the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** By what a command line has; the first that fits. */
const KINDS: readonly (readonly [kind: string, command: RegExp])[] = [
  ['PostgreSQL', /^(?:\S*\/)?postgres\b/],
  ['Temporal', /^\S*temporal server /],
  ['Chromium', /^\S*chrom/],
  ['checks and types', /\/(?:tsc|biome|oxlint|tsgolint|knip)\b/],
];

interface Seen {
  readonly kind: string;
  seconds: number;
}

/** @param stat as /proc/PID/stat */
function parseStat(stat: string): { parent: number; start: string; own: number; ended: number } {
  // The name of the program, in brackets, can have spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const seconds = (field: number) => Number(fields[field]) / TICKS_PER_SECOND;
  return {
    parent: Number(fields[1]),
    start: fields[19] ?? '',
    own: seconds(11) + seconds(12),
    ended: seconds(13) + seconds(14),
  };
}

/** @param command as /proc/PID/cmdline, with spaces */
function kindOf(command: string): string {
  const known = KINDS.find(([, pattern]) => pattern.test(command))?.[0];
  // A browser's programs: renderer, gpu-process, utility.
  if (known !== undefined) return [known, ...(/ --type=([\w-]+)/.exec(command)?.slice(1) ?? [])].join(' ');
  const [program = '', ...args] = command.split(' ');
  const name = path.basename(program);
  const script = name === 'node' ? args.find((arg) => /\.[cm]?[jt]s$/.test(arg) && !arg.startsWith('-')) : undefined;
  if (script === undefined) return name;
  // `dev/start.mjs` runs another script.
  const run = script.endsWith('dev/start.mjs') ? (args[args.indexOf(script) + 1] ?? script) : script;
  return `node ${path.basename(path.dirname(run))}/${path.basename(run)}`;
}

export interface ProcessorTimes {
  /** @returns seconds of each kind so far, most first */
  read(): readonly (readonly [kind: string, seconds: number])[];
  close(): void;
}

/** @returns undefined where there is no /proc */
export function watchProcessorTimes(): ProcessorTimes | undefined {
  if (process.platform !== 'linux') return undefined;
  const seen = new Map<string, Seen>();
  const look = () => {
    const processes = new Map<number, ReturnType<typeof parseStat>>();
    for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each)))
      try {
        processes.set(Number(name), parseStat(readFileSync(`/proc/${name}/stat`, 'utf8')));
      } catch {
        // It has ended.
      }
    const isOurs = (pid: number): boolean => {
      const parent = processes.get(pid)?.parent ?? 0;
      return pid === process.pid || (parent > 1 && isOurs(parent));
    };
    for (const [pid, { start, own }] of processes) {
      const id = `${pid} ${start}`;
      // A program that was started through another has changed its name at the second look.
      const known = seen.get(id);
      if (known !== undefined) known.seconds = own;
      if (!isOurs(pid)) continue;
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        if (command !== '') seen.set(id, { kind: pid === process.pid ? 'test/run.ts' : kindOf(command), seconds: own });
      } catch {
        // It has ended.
      }
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    read() {
      look();
      const kinds = new Map<string, number>();
      for (const { kind, seconds } of seen.values()) kinds.set(kind, (kinds.get(kind) ?? 0) + seconds);
      const { own, ended } = parseStat(readFileSync('/proc/self/stat', 'utf8'));
      const listed = kinds.values().reduce((sum, seconds) => sum + seconds, 0);
      kinds.set('ended unseen', Math.max(0, own + ended - listed));
      return [...kinds].toSorted(([, one], [, other]) => other - one);
    },
    close: () => clearInterval(timer),
  };
}
