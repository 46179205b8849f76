/**
 * How long events in quick succession are gathered into one fan-out.
 *
 * A workflow costs the engine far more than a delivery in it. While the engine accepts a new one quickly, little is
 * gathered and nothing waits; the busier it is, the longer a start takes and the more is put into the next. So a
 * machine spends its time on deliveries instead of many small workflows.
 */
export interface GatherTime {
  /** Least time between two claims that found something, in milliseconds. */
  readonly ms: number;
  /** Call it with the time the engine took to accept a workflow, in milliseconds. */
  startTook(ms: number): void;
}

const GATHER_MIN_MS = 20;
const GATHER_MAX_MS = 80;
/** Gathered for as long as this many starts take. */
const GATHER_STARTS = 4;
/** Weight of the newest start in the running mean. */
const NEWEST_WEIGHT = 0.2;

export function gatherTime(): GatherTime {
  let meanStartMs = 0;
  return {
    get ms() {
      return Math.min(GATHER_MAX_MS, Math.max(GATHER_MIN_MS, GATHER_STARTS * meanStartMs));
    },
    startTook(ms) {
      // One that took seconds says no more than a very slow one, and is forgotten as soon.
      meanStartMs += (Math.min(ms, GATHER_MAX_MS) - meanStartMs) * NEWEST_WEIGHT;
    },
  };
}
