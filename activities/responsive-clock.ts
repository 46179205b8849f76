/**
 * A clock that runs only while this process does. Where the machine is busy with others, or this process with itself,
 * answers lie unread for a while: that time is ours, and must not make an endpoint look slow.
 */

const TICK_MS = 25;
/** Timers are this late on an idle machine, too. */
const ON_TIME_WITHIN_MS = 10;

/** How much of the time since the last tick was lost. */
function lostSince(tickedAt: number, now: number): number {
  const lateMs = now - tickedAt - TICK_MS;
  return lateMs > ON_TIME_WITHIN_MS ? lateMs : 0;
}

/**
 * @param until ends the clock's timer; afterwards it runs like any other
 * @returns milliseconds since an arbitrary moment, without the time in which no timer of this process came due in time
 */
export function responsiveClock(until: AbortSignal): () => number {
  let lostMs = 0;
  let tickedAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    lostMs += lostSince(tickedAt, now);
    tickedAt = now;
  }, TICK_MS);
  timer.unref();
  until.addEventListener('abort', () => clearInterval(timer), { once: true });
  return () => {
    const now = performance.now();
    return now - lostMs - (until.aborted ? 0 : lostSince(tickedAt, now));
  };
}
