/**
 * Life of a process: starting → running → stopping → ended.
 *
 * - Each opened part registers how it is closed; stopping closes them in reverse order, one after another.
 * - The first SIGINT, SIGTERM or SIGHUP starts a clean stop. A second one, at least a second later, ends at once; an
 *   earlier one is the same Ctrl-C again, because npm forwards a signal that the terminal has already sent.
 * - An error while starting or running also causes a clean stop, and the process ends with code 1.
 * - Stopping has a deadline. The log lists what is not closed by then, and the process ends with code 1.
 *
 * Exit codes: 0 a clean stop after a signal · 1 an error, or the deadline of stopping passed · 130 a second signal.
 * Each of the last two has a line in the log with its reason.
 */
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';

const SAME_SIGNAL_MS = 1_000;
const SLOW_CLOSE_MS = 3_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const EXIT = { ok: 0, fault: 1, forced: 130 } as const;

export interface ProcessLife {
  /** Registers how something is closed. Called when stopping, the last registered first. */
  onStop(name: string, close: () => Promise<void> | void): void;
  /** Ends the running process because of a fault. */
  fail(error: unknown): void;
  /** Aborted when it was asked to stop, so that a start can be interrupted. */
  readonly stopping: AbortSignal;
}

/** Why a process ends without having been asked to. */
export interface Fault {
  readonly error: unknown;
  /** Its origin: reported by a part of the process, or uncaught. */
  readonly origin: 'reported' | 'uncaughtException' | 'unhandledRejection';
}

export interface ProcessLifeOptions {
  /** Where the end is logged. Undefined: standard error, by `onStopping`. */
  readonly log: () => Logger | undefined;
  /** Milliseconds that stopping may take in total. Read when it begins. */
  readonly stopWithinMs: () => number;
  /** Called when stopping begins, with the error if there is one; logs the reason. */
  onStopping?(fault: Fault | undefined): void;
  /** Called before an end without good order. */
  onForced?(reason: string): void;
}

/**
 * Runs a process until it is asked to end; then ends it with the fitting exit code.
 *
 * @param start opens everything; if it throws, the process ends with that error
 */
export async function runProcess(
  options: ProcessLifeOptions,
  start: (life: ProcessLife) => Promise<void>,
): Promise<void> {
  const closers: { name: string; close: () => Promise<void> | void }[] = [];
  /** Resolved with the fault, or with undefined by a signal. */
  const end = Promise.withResolvers<Fault | undefined>();
  const stopping = new AbortController();
  let stoppedAtMs: number | undefined;
  let faulty = false;
  let starting = true;

  /** Parts that are not closed yet, the next one first. */
  const open = (): string[] => [...(starting ? ['start'] : []), ...closers.map(({ name }) => name).reverse()];

  const endAtOnce = (reason: string, code: number): void => {
    options.log()?.fatal({ reason, open: open() }, 'ended at once, without a clean stop');
    options.onForced?.(reason);
    process.exit(code);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stoppedAtMs === undefined) {
      stoppedAtMs = Date.now();
      stopping.abort();
      end.resolve(undefined);
    } else if (Date.now() - stoppedAtMs > SAME_SIGNAL_MS) {
      endAtOnce(`a second signal, ${signal}, arrived while stopping`, EXIT.forced);
    }
  };
  const onFault = (error: unknown, origin: Fault['origin']): void => {
    if (stoppedAtMs !== undefined)
      options.log()?.error({ origin, reason: reasonOf(error), error: stackOf(error) }, 'an error while stopping');
    faulty = true;
    end.resolve({ error, origin });
  };
  const onUncaught = (error: unknown): void => onFault(error, 'uncaughtException');
  const onRejection = (error: unknown): void => onFault(error, 'unhandledRejection');
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', onRejection);

  const life: ProcessLife = {
    onStop: (name, close) => void closers.push({ name, close }),
    fail: (error) => onFault(error, 'reported'),
    stopping: stopping.signal,
  };
  const started = start(life).then(
    () => {
      starting = false;
    },
    (error: unknown) => {
      starting = false;
      // A start that is interrupted by a signal is not an error.
      if (stoppedAtMs === undefined) onFault(error, 'reported');
    },
  );
  const fault = await end.promise;
  stoppedAtMs ??= Date.now();
  stopping.abort();
  options.onStopping?.(fault);
  const stopWithinMs = options.stopWithinMs();
  const deadline = setTimeout(
    () => endAtOnce(`stopping took longer than ${stopWithinMs / 1_000} s`, EXIT.fault),
    stopWithinMs,
  );
  // An interrupted start continues to its next step, which sees the signal and opens nothing more.
  await started;
  for (let closer = closers.at(-1); closer !== undefined; closer = closers.at(-1)) {
    await closeOne(closer, options.log());
    closers.pop();
  }
  clearTimeout(deadline);
  for (const signal of SIGNALS) process.off(signal, onSignal);
  process.exitCode = faulty ? EXIT.fault : EXIT.ok;
  // Anything that still keeps the event loop running is a leak; it must not keep a stopped service alive.
  setTimeout(() => process.exit(), SAME_SIGNAL_MS).unref();
}

async function closeOne(
  { name, close }: { readonly name: string; close(): Promise<void> | void },
  log: Logger | undefined,
): Promise<void> {
  const slow = setTimeout(() => log?.warn({ part: name }, 'is slow to close'), SLOW_CLOSE_MS);
  try {
    await close();
  } catch (error) {
    log?.error({ part: name, reason: reasonOf(error), error: stackOf(error) }, 'could not be closed');
  } finally {
    clearTimeout(slow);
  }
}

/** For the log: the stack of an error, if it has one. */
export const stackOf = (error: unknown): string | undefined => (error instanceof Error ? error.stack : undefined);
