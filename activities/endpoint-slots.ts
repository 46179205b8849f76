/**
 * Keeps one endpoint from holding up the others, within one worker.
 *
 * Each endpoint has ten slots. In a fan-out a delivery waits for a slot only while its endpoint is well; when the
 * endpoint has lately been slow or failing, or turns out so while the delivery waits, the delivery leaves for the
 * endpoint's own lane. In that lane it waits as long as it takes.
 *
 *   well ──three failures in a row, or a request over a second──▶ in trouble ──ten quiet seconds──▶ well
 */
import { ENDPOINT_CONCURRENCY } from '../domain/delivery-limits.ts';

export interface EndpointSlots {
  /** Whether deliveries of this endpoint should leave a fan-out at once. */
  inTrouble(endpointId: string): boolean;
  /**
   * Waits for a slot.
   *
   * @param patient false: resolves to undefined when the endpoint gets into trouble before a slot is free
   */
  acquire(endpointId: string, patient: boolean): Promise<Slot | undefined>;
}

export interface Slot {
  /** Must be called exactly once, when the answer is in. */
  release(delivered: boolean): void;
}

const SLOW_REQUEST_MS = 1_000;
/** A request that has been under way for this long lets those that wait behind it go. */
const WAIT_BEHIND_MS = 400;
const FAILURES_IN_A_ROW = 3;
const TROUBLE_MS = 10_000;
const FORGET_MS = 60_000;

interface Waiter {
  readonly patient: boolean;
  readonly give: (slot: Slot | undefined) => void;
}

interface EndpointState {
  inFlight: Set<number>;
  waiting: Waiter[];
  failuresInARow: number;
  troubledUntil: number;
  usedAt: number;
  watch: NodeJS.Timeout | undefined;
}

export function endpointSlots(): EndpointSlots {
  const states = new Map<string, EndpointState>();
  let nextForgetting = 0;

  function stateOf(endpointId: string): EndpointState {
    const now = performance.now();
    if (now > nextForgetting) {
      nextForgetting = now + FORGET_MS;
      for (const [id, state] of states)
        if (state.inFlight.size === 0 && state.waiting.length === 0 && state.usedAt < now - FORGET_MS)
          states.delete(id);
    }
    let state = states.get(endpointId);
    if (state === undefined) {
      state = { inFlight: new Set(), waiting: [], failuresInARow: 0, troubledUntil: 0, usedAt: now, watch: undefined };
      states.set(endpointId, state);
    }
    state.usedAt = now;
    return state;
  }

  function trouble(state: EndpointState): void {
    state.troubledUntil = performance.now() + TROUBLE_MS;
    const leaving = state.waiting.filter(({ patient }) => !patient);
    state.waiting = state.waiting.filter(({ patient }) => patient);
    for (const { give } of leaving) give(undefined);
  }

  /** While somebody waits: looks whether the oldest request has been under way for too long. */
  function watch(state: EndpointState): void {
    if (state.watch !== undefined || state.waiting.every(({ patient }) => patient)) return;
    state.watch = setTimeout(() => {
      state.watch = undefined;
      const [oldest = Number.POSITIVE_INFINITY] = state.inFlight;
      if (performance.now() - oldest >= WAIT_BEHIND_MS) trouble(state);
      watch(state);
    }, WAIT_BEHIND_MS);
  }

  function take(state: EndpointState): Slot {
    let startedAt = performance.now();
    while (state.inFlight.has(startedAt)) startedAt += 0.000_1; // keys of the set, in order of their start
    state.inFlight.add(startedAt);
    return {
      release(delivered) {
        state.inFlight.delete(startedAt);
        state.failuresInARow = delivered ? 0 : state.failuresInARow + 1;
        const slow = performance.now() - startedAt > SLOW_REQUEST_MS;
        if (slow || state.failuresInARow >= FAILURES_IN_A_ROW) trouble(state);
        const next = state.waiting.shift();
        if (next !== undefined) next.give(take(state));
      },
    };
  }

  return {
    inTrouble: (endpointId) => (states.get(endpointId)?.troubledUntil ?? 0) > performance.now(),
    async acquire(endpointId, patient) {
      const state = stateOf(endpointId);
      if (!patient && state.troubledUntil > performance.now()) return undefined;
      if (state.inFlight.size < ENDPOINT_CONCURRENCY && state.waiting.length === 0) return take(state);
      return new Promise((give) => {
        state.waiting.push({ patient, give });
        watch(state);
      });
    },
  };
}
