/** A server program that is started again whenever it ends, after a second and for ever, as an orchestrator does. */
import { setTimeout as delay } from 'node:timers/promises';
import { type ChildProgram, startWatched, type WatchedChild } from '#dev/child-process.ts';
import { signalTree } from './process-tree.ts';

const RESTART_AFTER_MS = 1_000;
const RESTARTS_MAX = 10_000;
const READY_POLL_MS = 150;
const STOP_WITHIN_MS = 40_000;

export interface SupervisedProgram
  extends Pick<ChildProgram, 'name' | 'command' | 'args' | 'cwd' | 'owner' | 'env' | 'logFile'> {
  readonly stopSignal?: 'SIGINT' | 'SIGTERM';
  readonly readyWithinMs: number;
  /** Whether it can be used now. */
  isReady(): Promise<boolean>;
}

export interface Supervised {
  readonly name: string;
  readonly logFile: string;
  pid(): number;
  /** How often it ended, whatever the reason. */
  restarts(): number;
  /** To it and its descendants. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** In good order, and for good. */
  stop(): Promise<void>;
}

/** @throws when the first start fails */
export async function startSupervised(program: SupervisedProgram): Promise<Supervised> {
  let restarts = 0;
  const watched: WatchedChild = await startWatched(
    {
      stopSignal: 'SIGTERM',
      ...program,
      stopWithinMs: STOP_WITHIN_MS,
      restartDelaysMs: Array.from({ length: RESTARTS_MAX }, () => RESTART_AFTER_MS),
      async isReady() {
        if (await program.isReady().catch(() => false)) return true;
        await delay(READY_POLL_MS);
        return false;
      },
    },
    { onCrash: () => restarts++ },
  );
  return {
    name: program.name,
    logFile: program.logFile,
    pid: watched.pid,
    restarts: () => restarts,
    signal: (signal) => signalTree(watched.pid(), signal),
    async stop() {
      signalTree(watched.pid(), 'SIGCONT'); // what is paused cannot end
      await watched.stop();
    },
  };
}
