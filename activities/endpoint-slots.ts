/**
 * Keeps one endpoint from holding up the others, within one worker.
 *
 * Each endpoint has ten slots. In a fan-out a delivery waits for a slot only while its endpoint is well; when the
 * endpoint has lately been slow or failing, or turns out so while the delivery waits, the delivery leaves for the
 * endpoint's own lane. Lanes stand in line for a slot, ten deliveries at most; whoever finds the line full waits in its
 * workflow, by a durable timer, and comes back. So an endpoint that hangs holds twenty deliveries of the worker, however
 * many are owed to it.
 *
 *   well ──three failures in a row, or a request over a second──▶ in trouble ──ten quiet seconds──▶ well
 *
 * The dispatcher hears of slow endpoints by their rows and spares their deliveries the way through a fan-out.
 */
import { ENDPOINT_CONCURRENCY, ENDPOINT_TROUBLE_MS } from '../domain/delivery-limits.ts';
import type { AttemptInput } from '../domain/delivery-workflows.ts';
import { RECOVERY_CONCURRENCY } from '../domain/recovery.ts';

type Lane = AttemptInput['lane'];

export interface EndpointSlots {
  /**
   * Waits for a slot. Resolves to undefined in a fan-out when the endpoint is in trouble or gets so before a slot is
   * free, in an endpoint's lane when the line is full, in a recovery when half of the slots are taken, and in every lane
   * when the worker shuts down. What a person asked for (`manual`) waits in a line of any length.
   */
  acquire(endpointId: string, lane: Lane): Promise<Slot | undefined>;
  /** How many deliveries of a recovery would find a slot now. */
  roomForRecovery(endpointId: string): number;
  /** When a lane that found the line full should come back: one for each slot that becomes free until then. */
  comeBackInMs(endpointId: string): number;
}

export interface Slot {
  /** Must be called exactly once, when the answer is in. @param delivered left out: nothing was sent */
  release(delivered?: boolean): void;
}

const SLOW_REQUEST_MS = 1_000;
/** A request that has been under way for this long lets those that wait behind it go. */
const WAIT_BEHIND_MS = 400;
const FAILURES_IN_A_ROW = 3;
const FORGET_MS = 60_000;
const LINE_MAX = ENDPOINT_CONCURRENCY;
const COME_BACK_MIN_MS = 1_000;
const COME_BACK_MAX_MS = 60_000;

interface Waiter {
  readonly lane: Lane;
  readonly give: (slot: Slot | undefined) => void;
}

interface EndpointState {
  readonly endpointId: string;
  inFlight: Set<number>;
  waiting: Waiter[];
  failuresInARow: number;
  troubledUntil: number;
  usedAt: number;
  /** How long the last request took. */
  lastMs: number;
  /** When the last of those that found the line full comes back. */
  lastTurnAt: number;
  watch: NodeJS.Timeout | undefined;
}

/**
 * @param draining aborted when the worker shuts down: whoever waits then leaves, and nobody gets a slot any more
 * @param onSlow told when an endpoint is found slow, often
 */
export function endpointSlots(draining: AbortSignal, onSlow: (endpointId: string) => void): EndpointSlots {
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
      state = {
        endpointId,
        inFlight: new Set(),
        waiting: [],
        failuresInARow: 0,
        troubledUntil: 0,
        usedAt: now,
        lastMs: 0,
        lastTurnAt: 0,
        watch: undefined,
      };
      states.set(endpointId, state);
    }
    state.usedAt = now;
    return state;
  }

  function trouble(state: EndpointState, slow: boolean): void {
    state.troubledUntil = performance.now() + ENDPOINT_TROUBLE_MS;
    if (slow) onSlow(state.endpointId);
    const leaving = state.waiting.filter(({ lane }) => lane === 'fan-out');
    state.waiting = state.waiting.filter(({ lane }) => lane !== 'fan-out');
    for (const { give } of leaving) give(undefined);
  }

  /** While somebody waits: looks whether the oldest request has been under way for too long. */
  function watch(state: EndpointState): void {
    if (state.watch !== undefined || state.waiting.every(({ lane }) => lane !== 'fan-out')) return;
    state.watch = setTimeout(() => {
      state.watch = undefined;
      const [oldest = Number.POSITIVE_INFINITY] = state.inFlight;
      if (performance.now() - oldest >= WAIT_BEHIND_MS) trouble(state, false);
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
        if (delivered !== undefined) {
          state.failuresInARow = delivered ? 0 : state.failuresInARow + 1;
          state.lastMs = performance.now() - startedAt;
          const slow = state.lastMs > SLOW_REQUEST_MS;
          if (slow || state.failuresInARow >= FAILURES_IN_A_ROW) trouble(state, slow);
        }
        const next = state.waiting.shift();
        if (next !== undefined) next.give(take(state));
      },
    };
  }

  draining.addEventListener('abort', () => {
    for (const state of states.values()) for (const { give } of state.waiting.splice(0)) give(undefined);
  });

  return {
    async acquire(endpointId, lane) {
      const state = stateOf(endpointId);
      const [oldest = Number.POSITIVE_INFINITY] = state.inFlight;
      if (performance.now() - oldest >= SLOW_REQUEST_MS) trouble(state, true);
      if (draining.aborted || (lane === 'fan-out' && state.troubledUntil > performance.now())) return undefined;
      if (lane === 'recovery' && (state.inFlight.size >= RECOVERY_CONCURRENCY || state.waiting.length > 0))
        return undefined;
      if (state.inFlight.size < ENDPOINT_CONCURRENCY && state.waiting.length === 0) return take(state);
      if (lane === 'endpoint' && state.waiting.length >= LINE_MAX) return undefined;
      return new Promise((give) => {
        state.waiting.push({ lane, give });
        watch(state);
      });
    },
    roomForRecovery(endpointId) {
      const { inFlight, waiting } = stateOf(endpointId);
      return waiting.length > 0 ? 0 : Math.max(0, RECOVERY_CONCURRENCY - inFlight.size);
    },
    comeBackInMs(endpointId) {
      const state = stateOf(endpointId);
      const now = performance.now();
      const [oldest = now] = state.inFlight;
      // Nothing is known of an endpoint that has not answered yet; it is taken for a slow one.
      const requestMs = Math.max(state.lastMs === 0 ? SLOW_REQUEST_MS : state.lastMs, now - oldest);
      const slotFreeEveryMs = requestMs / ENDPOINT_CONCURRENCY;
      const turnAt = Math.max(now + COME_BACK_MIN_MS, state.lastTurnAt + slotFreeEveryMs);
      state.lastTurnAt = Math.min(turnAt, now + COME_BACK_MAX_MS);
      return state.lastTurnAt - now;
    },
  };
}
