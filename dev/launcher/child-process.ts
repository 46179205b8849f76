/**
 * A server program as a child process: started, awaited, watched, restarted, stopped.
 *
 * States: starting → running ⇄ restarting → stopped | given up
 *
 * - It is detached (own process group), so that Ctrl-C in the terminal reaches only the launcher, which drains first
 *   and stops it last.
 * - Its output goes to a file and not to a pipe: it survives if the launcher is killed, and must not die of a broken
 *   pipe. A surviving one is found again at the next start (postmaster.pid, temporal.pid).
 * - When it ends without being asked it is started again, at most five times in a row and with growing waits. A run of a
 *   minute clears the count. Then it is given up, with its last log lines.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const RESTART_DELAYS_MS = [200, 1_000, 3_000, 10_000, 30_000] as const;
const STEADY_AFTER_MS = 60_000;
const READY_POLL_MS = 20;
const LOG_KEEP_BYTES = 20 * 1024 * 1024;
const LOG_TAIL_BYTES = 4_096;
const LOG_TAIL_LINES = 12;

export interface ChildProgram {
  /** Its name in messages, e.g. `PostgreSQL`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly owner?: ProcessOwner | undefined;
  readonly env?: NodeJS.ProcessEnv;
  /** Standard output and error are appended here. */
  readonly logFile: string;
  /** Asks it to stop cleanly. */
  readonly stopSignal: 'SIGINT' | 'SIGTERM';
  /** After this long without an end it is killed. */
  readonly stopWithinMs: number;
  readonly readyWithinMs: number;
  /** Waits before it is started again; after the last it is given up. Default: 0.2, 1, 3, 10, 30 s. */
  readonly restartDelaysMs?: readonly number[];
  /** Whether it can be used now. Polled until true. */
  isReady(pid: number): Promise<boolean>;
}

/** The user that runs a program, if it is another one. */
export interface ProcessOwner {
  readonly uid: number;
  readonly gid: number;
}

export interface WatchedChild {
  /** Process id of the present run. */
  pid(): number;
  /** How often it ended without being asked, failed restarts included. */
  crashes(): number;
  /** Ends it in good order. Safe to call twice. */
  stop(): Promise<void>;
  /** Ends it at once, without good order. */
  kill(): void;
}

export interface ChildEvents {
  /** It ended unexpectedly and is being restarted. */
  onCrash?(message: string): void;
  onRestarted?(message: string): void;
  /** It ended too often. Nothing is started any more. */
  onGivenUp?(error: Error): void;
}

/** Last lines of a log file, for messages. */
export function logTail(file: string): string {
  if (!existsSync(file)) return '';
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, LOG_TAIL_BYTES));
    readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
  } finally {
    closeSync(descriptor);
  }
}

const withLog = (message: string, logFile: string): string => {
  const tail = logTail(logFile);
  return tail === '' ? message : `${message}\nThe end of its log (${logFile}):\n${tail.replaceAll(/^/gm, '  | ')}`;
};

interface Run {
  readonly process: ChildProcess;
  readonly pid: number;
  /** How it ended, in words. */
  readonly ended: Promise<string>;
}

function spawnOnce(program: ChildProgram): Promise<Run> {
  if (existsSync(program.logFile) && statSync(program.logFile).size > LOG_KEEP_BYTES) truncateSync(program.logFile);
  const log = openSync(program.logFile, 'a', 0o600);
  const child = spawn(program.command, program.args, {
    ...program.owner,
    cwd: program.cwd,
    env: program.env ?? process.env,
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`${program.name} cannot be run: ${error.message}`)));
    child.once('spawn', () => {
      const ended = new Promise<string>((end) => {
        child.once('exit', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`));
      });
      resolve({ process: child, pid: child.pid ?? 0, ended });
    });
  });
}

/** Starts a program once and waits until it is ready. A run that does not get ready is ended. */
async function startOnce(program: ChildProgram, stopping: () => boolean): Promise<Run> {
  const run = await spawnOnce(program);
  let endedWith: string | undefined;
  void run.ended.then((how) => {
    endedWith = how;
  });
  const deadline = Date.now() + program.readyWithinMs;
  while (endedWith === undefined && Date.now() < deadline && !stopping()) {
    if (await program.isReady(run.pid)) return run;
    await delay(READY_POLL_MS);
  }
  const inWords =
    endedWith === undefined ? `was not ready within ${program.readyWithinMs / 1000} s` : `ended with ${endedWith}`;
  await endRun(program, run);
  throw new Error(withLog(`${program.name} ${inWords}.`, program.logFile));
}

async function endRun(program: ChildProgram, run: Run): Promise<void> {
  if (run.process.exitCode !== null || run.process.signalCode !== null) return;
  run.process.kill(program.stopSignal);
  const timer = setTimeout(() => run.process.kill('SIGKILL'), program.stopWithinMs);
  await run.ended;
  clearTimeout(timer);
}

/**
 * Starts a program and keeps it running until `stop`.
 *
 * @throws when the first start fails, with the program's last log lines
 */
export async function startWatched(program: ChildProgram, events: ChildEvents = {}): Promise<WatchedChild> {
  const restartDelaysMs = program.restartDelaysMs ?? RESTART_DELAYS_MS;
  let stopping = false;
  let failures = 0;
  let crashes = 0;
  const wakeUp = new AbortController();
  let run = await startOnce(program, () => stopping);
  let supervision = watch();

  async function watch(): Promise<void> {
    for (;;) {
      const startedAt = Date.now();
      const how = await run.ended;
      if (stopping) return;
      if (Date.now() - startedAt > STEADY_AFTER_MS) failures = 0;
      let reason = withLog(`${program.name} ended unexpectedly (${how}).`, program.logFile);
      for (;;) {
        crashes++;
        const waitMs = restartDelaysMs[failures++];
        if (waitMs === undefined) {
          events.onGivenUp?.(new Error(`${reason}\nIt was restarted ${failures - 1} times without success.`));
          return;
        }
        events.onCrash?.(`${reason}\nRestarting it in ${waitMs / 1000} s (${failures} of ${restartDelaysMs.length}).`);
        await delay(waitMs, undefined, { signal: wakeUp.signal }).catch(() => {});
        if (stopping) return;
        try {
          run = await startOnce(program, () => stopping);
          events.onRestarted?.(`${program.name} is running again.`);
          break;
        } catch (error) {
          if (stopping) return;
          reason = error instanceof Error ? error.message : String(error);
        }
      }
    }
  }

  return {
    pid: () => run.pid,
    crashes: () => crashes,
    async stop() {
      stopping = true;
      wakeUp.abort();
      await endRun(program, run);
      await supervision;
      supervision = Promise.resolve();
    },
    kill() {
      stopping = true;
      run.process.kill('SIGKILL');
    },
  };
}
