/** Waits between two looks or two tries, beyond `setTimeout` of `node:timers/promises`. */

/** Between half and all of a time that doubles with each failure. */
export const backoffMs = (failures: number, leastMs: number, mostMs: number): number =>
  Math.min(mostMs, leastMs * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);

/** The pause of one loop, which others can end. */
export interface WakeablePause {
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
