/**
 * Life of a process: starting → running → stopping → ended.
 *
 * - What is opened registers how it is closed; stopping closes in the reverse order, one after another.
 * - The first SIGINT or SIGTERM stops in good order. A second one, at least a second later, ends at once; earlier ones
 *   are the same Ctrl-C once more, because npm hands on what the terminal has sent already.
 * - A fault while starting or running stops in good order too, and the process ends with code 1.
 */
import type { Logger } from './logger.ts';

const SAME_SIGNAL_MS = 1_000;
const SLOW_CLOSE_MS = 3_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface ProcessLife {
  /** Registers how something is closed. Called when stopping, the last registered first. */
  onStop(name: string, close: () => Promise<void> | void): void;
  /** Ends the running process because of a fault. */
  fail(error: unknown): void;
  /** Aborted when it was asked to stop, so that a start under way need not go on. */
  readonly stopping: AbortSignal;
}

export interface ProcessLifeOptions {
  /** Where faults of closing are reported. */
  readonly log: () => Logger | undefined;
  /** Told when stopping begins, and with the fault if there is one. */
  onStopping?(fault: unknown): void;
  /** Told before an end without good order. */
  onForced?(): void | Promise<void>;
}

class StopRequested extends Error {}

/**
 * Runs a process until it is told to end; then ends it with the fitting exit code.
 *
 * @param start opens everything; what it throws is the fault the process ends with
 */
export async function runProcess(
  options: ProcessLifeOptions,
  start: (life: ProcessLife) => Promise<void>,
): Promise<void> {
  const closers: { name: string; close: () => Promise<void> | void }[] = [];
  const end = Promise.withResolvers<void>();
  end.promise.catch(() => {});
  const stopping = new AbortController();
  let stoppedAtMs: number | undefined;

  const onSignal = (signal: NodeJS.Signals): void => {
    if (stoppedAtMs === undefined) {
      stoppedAtMs = Date.now();
      stopping.abort();
      end.reject(new StopRequested(signal));
    } else if (Date.now() - stoppedAtMs > SAME_SIGNAL_MS) {
      void Promise.resolve(options.onForced?.()).finally(() => process.exit(130));
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const onFault = (error: unknown): void => end.reject(error);
  process.on('uncaughtException', onFault);
  process.on('unhandledRejection', onFault);

  let fault: unknown;
  const life: ProcessLife = {
    onStop: (name, close) => void closers.push({ name, close }),
    fail: onFault,
    stopping: stopping.signal,
  };
  const starting = start(life);
  starting.catch(() => {});
  try {
    await Promise.race([starting, end.promise]);
    await end.promise;
  } catch (error) {
    if (!(error instanceof StopRequested)) fault = error;
  }
  stoppedAtMs ??= Date.now();
  stopping.abort();
  options.onStopping?.(fault);
  // A start that is interrupted comes to its next step first, which sees that it should end and opens nothing more.
  await starting.catch(() => {});
  for (const { name, close } of closers.reverse()) {
    const slow = setTimeout(() => options.log()?.warn({ part: name }, 'takes long to close'), SLOW_CLOSE_MS);
    try {
      await close();
    } catch (error) {
      options
        .log()
        ?.error({ part: name, error: error instanceof Error ? error.message : error }, 'could not be closed');
    } finally {
      clearTimeout(slow);
    }
  }
  for (const signal of SIGNALS) process.off(signal, onSignal);
  process.exitCode = fault === undefined ? 0 : 1;
  // What still holds the event loop now is a leak; it must not keep a stopped service alive.
  setTimeout(() => process.exit(), SAME_SIGNAL_MS).unref();
}
