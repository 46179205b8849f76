/**
 * Keeps one endpoint from delaying the others, within one worker.
 *
 * Each endpoint has ten slots. In a fan-out a delivery waits for a slot only while its endpoint is healthy. If the
 * endpoint was recently slow or failing, or becomes so during the wait, the delivery leaves for a workflow of the
 * endpoint's own. At most ten deliveries of such workflows queue for a slot; if the queue is full, they wait in their
 * workflow, by a durable timer, and try again. So a hanging endpoint occupies twenty deliveries of the worker, whatever
 * the number of its waiting deliveries.
 *
 *   well ──three failures in a row, or a request over a second──▶ in trouble ──ten quiet seconds──▶ well
 *
 * Silence distinguishes an endpoint that hangs from one that is busy, before a request has taken a second. While requests
 * are in flight and none is answered for 400 ms, no delivery waits for a slot. After the next answer deliveries wait again.
 *
 * The dispatcher reads slow endpoints from their rows and does not put their deliveries into a fan-out.
 */
import { ENDPOINT_CONCURRENCY, ENDPOINT_TROUBLE_MS } from '#domain/webhooks/delivery-limits.ts';
import type { AttemptKind } from '#domain/webhooks/delivery-workflows.ts';
import { RECOVERY_CONCURRENCY } from '#domain/webhooks/recovery.ts';

export interface EndpointSlots {
  /**
   * Waits for a slot. Resolves to undefined in a fan-out if the endpoint is in trouble or silent, becomes so before a
   * slot is free, or gives none for five seconds, in a workflow of the endpoint if the queue is full, in a recovery if
   * half of the slots are in use, and always when the worker shuts down. Attempts requested by a person (`manual`) wait
   * in a queue without a limit.
   */
  acquire(endpointId: string, kind: AttemptKind): Promise<Slot | undefined>;
  /** Endpoints that would give a delivery of a fan-out no slot soon: in trouble, silent, or with many that wait. */
  crowded(): readonly string[];
  /** How many deliveries of a recovery would find a slot now. */
  roomForRecovery(endpointId: string): number;
  /** When a workflow that found the queue full should return: one for each slot that becomes free until then. */
  comeBackInMs(endpointId: string): number;
}

export interface Slot {
  /**
   * Call it when the request starts. Time before it, such as a wait for the database, must not count: the endpoint
   * would seem slow whenever we are.
   */
  begin(): void;
  /** Must be called exactly once, when the answer is in. @param delivered left out: nothing was sent */
  release(delivered?: boolean): void;
}

const SLOW_REQUEST_MS = 1_000;
/** When requests are in flight and none has been answered for this long, deliveries that wait behind them leave. */
const SILENCE_MS = 400;
/** Longest wait of a delivery of a fan-out: the queue of one endpoint must not fill the worker. */
const WAIT_MAX_MS = 5_000;
/** Least time between two looks at a queue. */
const LOOK_MIN_MS = 20;
/** Deliveries that may wait for a slot: those of so much time, at the speed of the last answer. */
const WAITING_MS = 1_000;
const WAITING_MIN = 20;
const FAILURES_IN_A_ROW = 3;
const FORGET_MS = 60_000;
const LINE_MAX = ENDPOINT_CONCURRENCY;
const COME_BACK_MIN_MS = 1_000;
const COME_BACK_MAX_MS = 60_000;

interface Waiter {
  readonly kind: AttemptKind;
  readonly sinceMs: number;
  readonly give: (slot: Slot | undefined) => void;
}

interface EndpointState {
  readonly endpointId: string;
  /** Slots in use. */
  taken: number;
  /** Start times of the requests in flight, in order. */
  readonly begun: Set<number>;
  /** Last answer, or start of the first request in flight. */
  silentSince: number;
  waiting: Waiter[];
  failuresInARow: number;
  troubledUntil: number;
  usedAt: number;
  /** How long the last request took. */
  lastMs: number;
  /** When the last workflow that found the queue full returns. */
  lastTurnAt: number;
  watch: NodeJS.Timeout | undefined;
}

/**
 * @param draining aborted when the worker shuts down: waiting callers leave, and no slot is given any more
 * @param onSlow called when an endpoint is found slow, often
 * @param now milliseconds; see `responsiveClock`
 */
export function endpointSlots(
  draining: AbortSignal,
  onSlow: (endpointId: string) => void,
  now: () => number,
): EndpointSlots {
  const states = new Map<string, EndpointState>();
  let nextForgetting = 0;

  function stateOf(endpointId: string): EndpointState {
    const nowMs = now();
    if (nowMs > nextForgetting) {
      nextForgetting = nowMs + FORGET_MS;
      for (const [id, state] of states)
        if (state.taken === 0 && state.waiting.length === 0 && state.usedAt < nowMs - FORGET_MS) states.delete(id);
    }
    let state = states.get(endpointId);
    if (state === undefined) {
      state = {
        endpointId,
        taken: 0,
        begun: new Set(),
        silentSince: 0,
        waiting: [],
        failuresInARow: 0,
        troubledUntil: 0,
        usedAt: nowMs,
        lastMs: 0,
        lastTurnAt: 0,
        watch: undefined,
      };
      states.set(endpointId, state);
    }
    state.usedAt = nowMs;
    return state;
  }

  /** Removes deliveries of a fan-out that should leave the queue. */
  function leave(state: EndpointState, leaves: (waiter: Waiter) => boolean): void {
    const isLeaving = (waiter: Waiter) => waiter.kind === 'fan-out' && leaves(waiter);
    const leaving = state.waiting.filter(isLeaving);
    if (leaving.length === 0) return;
    state.waiting = state.waiting.filter((waiter) => !isLeaving(waiter));
    for (const { give } of leaving) give(undefined);
  }

  function trouble(state: EndpointState, slow: boolean): void {
    state.troubledUntil = now() + ENDPOINT_TROUBLE_MS;
    if (slow) onSlow(state.endpointId);
    leave(state, () => true);
  }

  const isSilent = ({ begun, silentSince }: EndpointState): boolean =>
    begun.size > 0 && now() - silentSince >= SILENCE_MS;

  /** Time of the next look at the queue, if no answer comes before. */
  function nextLookMs({ begun, silentSince, waiting }: EndpointState): number {
    const nowMs = now();
    const [oldest = nowMs] = begun;
    const inLine = waiting.find(({ kind }) => kind === 'fan-out')?.sinceMs ?? nowMs;
    const silentAt = (begun.size > 0 ? silentSince : nowMs) + SILENCE_MS;
    return Math.max(LOOK_MIN_MS, Math.min(silentAt, oldest + SLOW_REQUEST_MS, inLine + WAIT_MAX_MS) - nowMs);
  }

  /** Checks whether the endpoint hangs, while a delivery of a fan-out waits. */
  function watch(state: EndpointState): void {
    if (state.watch !== undefined || state.waiting.every(({ kind }) => kind !== 'fan-out')) return;
    state.watch = setTimeout(() => {
      state.watch = undefined;
      const [oldest = Number.POSITIVE_INFINITY] = state.begun;
      if (now() - oldest >= SLOW_REQUEST_MS) trouble(state, true);
      else if (isSilent(state)) leave(state, () => true);
      else leave(state, ({ sinceMs }) => now() - sinceMs >= WAIT_MAX_MS);
      watch(state);
    }, nextLookMs(state));
  }

  function take(state: EndpointState): Slot {
    let beganAt: number | undefined;
    state.taken++;
    return {
      begin() {
        beganAt = now();
        if (state.begun.size === 0) state.silentSince = beganAt;
        while (state.begun.has(beganAt)) beganAt += 0.000_1; // values of the set, in order
        state.begun.add(beganAt);
      },
      release(delivered) {
        state.taken--;
        if (beganAt !== undefined) {
          state.begun.delete(beganAt);
          if (delivered !== undefined) {
            state.silentSince = now();
            state.lastMs = state.silentSince - beganAt;
          }
        }
        if (delivered !== undefined) {
          state.failuresInARow = delivered ? 0 : state.failuresInARow + 1;
          const slow = beganAt !== undefined && state.lastMs > SLOW_REQUEST_MS;
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

  function isCrowded(state: EndpointState): boolean {
    const { waiting, lastMs, troubledUntil } = state;
    if (troubledUntil > now() || isSilent(state)) return true;
    return waiting.length > WAITING_MIN && waiting.length * lastMs > WAITING_MS * ENDPOINT_CONCURRENCY;
  }

  return {
    crowded: () => [...states.values()].filter(isCrowded).map(({ endpointId }) => endpointId),
    async acquire(endpointId, kind) {
      const state = stateOf(endpointId);
      const [oldest = Number.POSITIVE_INFINITY] = state.begun;
      if (now() - oldest >= SLOW_REQUEST_MS) trouble(state, true);
      if (draining.aborted || (kind === 'fan-out' && state.troubledUntil > now())) return undefined;
      if (kind === 'recovery' && (state.taken >= RECOVERY_CONCURRENCY || state.waiting.length > 0)) return undefined;
      if (state.taken < ENDPOINT_CONCURRENCY && state.waiting.length === 0) return take(state);
      if (kind === 'endpoint' && state.waiting.length >= LINE_MAX) return undefined;
      if (kind === 'fan-out' && isSilent(state)) return undefined;
      return new Promise((give) => {
        state.waiting.push({ kind, sinceMs: now(), give });
        watch(state);
      });
    },
    roomForRecovery(endpointId) {
      const { taken, waiting } = stateOf(endpointId);
      return waiting.length > 0 ? 0 : Math.max(0, RECOVERY_CONCURRENCY - taken);
    },
    comeBackInMs(endpointId) {
      const state = stateOf(endpointId);
      const nowMs = now();
      const [oldest = nowMs] = state.begun;
      // An endpoint that has not answered yet is treated as slow.
      const requestMs = Math.max(state.lastMs === 0 ? SLOW_REQUEST_MS : state.lastMs, nowMs - oldest);
      const slotFreeEveryMs = requestMs / ENDPOINT_CONCURRENCY;
      const turnAt = Math.max(nowMs + COME_BACK_MIN_MS, state.lastTurnAt + slotFreeEveryMs);
      state.lastTurnAt = Math.min(turnAt, nowMs + COME_BACK_MAX_MS);
      return state.lastTurnAt - nowMs;
    },
  };
}

const TICK_MS = 25;
/** Timers are this late on an idle machine, too. */
const ON_TIME_WITHIN_MS = 10;

/** How much of the time since the last tick was lost. */
function lostSince(tickedAt: number, now: number): number {
  const lateMs = now - tickedAt - TICK_MS;
  return lateMs > ON_TIME_WITHIN_MS ? lateMs : 0;
}

/**
 * A clock that runs only while this process does. Where the machine is busy with others, or this process with itself,
 * answers are not read for a while: that must not make an endpoint look slow.
 *
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
