/**
 * A circuit breaker for a dependency. Each call is repeated until it succeeds. During an outage only one caller tries,
 * so an outage costs one call every second or two, whatever the number of waiting callers.
 *
 *   closed ──a call failed by the dependency's fault──▶ open: one caller tries, the others wait
 *      ▲                                                  │
 *      └──────────────────── its call succeeded ◀─────────┘
 *
 * Calls must be idempotent: the answer to a completed one may have been lost.
 */
import type { OutageLog } from '#core/platform/log/outage-log.ts';

export interface Circuit {
  /** The last call failed by the dependency's fault, and none has succeeded since. */
  readonly isOpen: boolean;
  /**
   * @param goOn asked before each repetition; false ends them
   * @throws the last error of the dependency when it must not go on; every other error of the call at once
   */
  run<Result>(call: () => Promise<Result>, goOn?: () => boolean): Promise<Result>;
  /** Resolves when it is closed, or `wake` is called. */
  closed(): Promise<void>;
  /** Ends every wait, so that `goOn` is asked again. */
  wake(): void;
}

interface CircuitOptions {
  /** Whether the dependency is to blame for an error, so that the same call may succeed later. */
  readonly isFault: (error: unknown) => boolean;
  readonly outage: OutageLog;
}

const FIRST_PAUSE_MS = 100;
/** Short, so that waiting callers continue soon after the dependency is back. */
const LONGEST_PAUSE_MS = 2_000;

export function circuit({ isFault, outage }: CircuitOptions): Circuit {
  let isOpen = false;
  let trying = false;
  let failures = 0;
  /** How often the dependency has come back. */
  let returns = 0;
  let lastFault: unknown;
  let waiting: (() => void)[] = [];
  /** Of the one caller that tries. */
  const probing = wakeablePause();

  function wake(): void {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
    probing.wake();
  }

  const turn = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));

  function close(): void {
    isOpen = false;
    trying = false;
    failures = 0;
    returns++;
    outage.recovered();
    wake();
  }

  /** Lets another caller try. */
  function stepBack(): void {
    trying = false;
    wake();
  }

  async function run<Result>(call: () => Promise<Result>, goOn: () => boolean = () => true): Promise<Result> {
    for (;;) {
      while (isOpen && trying) {
        await turn();
        if (!goOn()) throw lastFault;
      }
      const tries = isOpen;
      const begunAfter = returns;
      if (tries) trying = true;
      try {
        const result = await call();
        if (tries) close();
        return result;
      } catch (error) {
        if (!isFault(error)) {
          if (tries) close(); // it answered
          throw error;
        }
        lastFault = error;
        // It began before the dependency was back, so its failure belongs to the past outage.
        if (!isOpen && begunAfter !== returns) {
          if (goOn()) continue;
          throw error;
        }
        failures++;
        outage.failed(error);
        if (!isOpen) isOpen = true;
        else if (!tries) continue; // somebody tries already
        trying = true;
        if (goOn()) await probing.pause(backoffMs(failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
        stepBack();
        if (!goOn()) throw error;
      }
    }
  }

  return {
    get isOpen() {
      return isOpen;
    },
    run,
    async closed() {
      if (isOpen) await turn();
    },
    wake,
  };
}

/** Between half and all of a time that doubles with each failure. */
export const backoffMs = (failures: number, leastMs: number, mostMs: number): number =>
  Math.min(mostMs, leastMs * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);

/** The pause of one loop, which others can end. */
interface WakeablePause {
  /** Resolves after the time, or when woken; at once when the loop is closed. */
  pause(ms: number): Promise<void>;
  /** Ends the pause, if there is one. */
  wake(): void;
}

export function wakeablePause(isClosed: () => boolean = () => false): WakeablePause {
  let wake: () => void = () => {};
  return {
    pause: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(done, ms);
        function done() {
          clearTimeout(timer);
          resolve();
        }
        wake = done;
        if (isClosed()) done();
      }),
    wake: () => wake(),
  };
}
