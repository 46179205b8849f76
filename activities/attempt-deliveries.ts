/**
 * The activity that attempts deliveries: the first attempts of a fan-out, or the retries of one endpoint.
 *
 *   look        in a fan-out: deliveries that a fast lane has acknowledged are done, those in flight are awaited
 *   for each window of the other deliveries
 *     ready     results can be written; otherwise nothing is reserved
 *     reserve   attempt number + everything needed, in one statement; what it does not return is not sent
 *     attempt   `make-attempt.ts`
 *     release   numbers under which nothing was sent
 *   settle      what was not acknowledged: final with a reason, or still owed → returned to the workflow
 *
 * An outcome is never an exception. While the database is away, full or read-only, the run waits where it is
 * (`core/platform/process/patient-database.ts`): results and releases as long as it takes, the rest for minutes. What
 * throws is an infrastructure error (a secret that cannot be opened, a worker shutting down), and only when every
 * request in flight has ended and is recorded; the engine then gives the rest to a worker again.
 *
 * **Fast lanes.** A fan-out deals with first attempts that a fast lane makes, here or in another process:
 *
 *   read the rows ──▶ final: nothing to do
 *        ▲       ├──▶ in a lane with signs of life: wait, do not send
 *        │       └──▶ in none, or in a dead one: attempt now
 *        └── a lane has ended an attempt, or some time has passed
 */
import { randomUUID } from 'node:crypto';
import type { Sql } from '#db/database.ts';
import {
  type CarriedDelivery,
  carriedDeliveries,
  type OpenDelivery,
  type ReservedAttempt,
  releaseAttempts,
  reserveAttempts,
  reserveManualAttempts,
  reserveRecoveryAttempts,
  settleUnattempted,
} from '#db/queries/deliveries/attempts.ts';
import { ENDPOINT_CONCURRENCY } from '#domain/webhooks/delivery-limits.ts';
import type { AttemptInput, AttemptOutput, WaitingEndpoint } from '#domain/webhooks/delivery-workflows.ts';
import { RECOVERY_CONCURRENCY } from '#domain/webhooks/recovery.ts';
import type { EndpointOutcome } from './endpoint-health.ts';
import { type AttemptDependencies, attemptMaker, type MakeAttempt } from './make-attempt.ts';

/** The worker shuts down: another one continues. */
export class ShuttingDown extends Error {
  constructor() {
    super('this worker is shutting down; another one goes on');
  }
}

/** The context of an activity: its workflow, and its heartbeat. */
export interface AttemptContext {
  readonly workflowId: string;
  readonly heartbeat: () => void;
  /** Each heartbeat is a write of the engine: one may be lost within the timeout, no more. */
  readonly heartbeatEveryMs: number;
  /** Aborted when the engine has given up this run; another run may already be active. */
  readonly givenUp: AbortSignal;
  /** The previous run failed, so its cause may still exist. */
  readonly repeated: boolean;
  /** First attempts that the fast lane of this process makes. */
  readonly laneAttempts?: LaneAttempts | undefined;
}

/**
 * Deliveries reserved together. Of one endpoint at most as many as may be sent concurrently: if the worker dies, a
 * reservation without a request counts as an attempt.
 */
const WINDOW = {
  'fan-out': 100,
  endpoint: ENDPOINT_CONCURRENCY,
  manual: ENDPOINT_CONCURRENCY,
  recovery: RECOVERY_CONCURRENCY,
} as const;
/** The next window starts when half of this one is done, or in a fan-out after this time. */
const NEXT_WINDOW_MS = 50;
/**
 * A run starts no new attempts after this; the rest continues in the endpoint's own workflow. A fan-out ends, with the 15 s of
 * its last request, before the first retry is due.
 */
const RUN_MS = {
  'fan-out': 10_000,
  endpoint: 30_000,
  manual: Number.POSITIVE_INFINITY,
  recovery: Number.POSITIVE_INFINITY,
} as const;

export async function attemptDeliveries(
  deps: AttemptDependencies,
  input: AttemptInput,
  context: AttemptContext,
): Promise<AttemptOutput> {
  const beat = setInterval(context.heartbeat, context.heartbeatEveryMs);
  try {
    return await new AttemptRun(deps, input, context).run();
  } finally {
    clearInterval(beat);
  }
}

class AttemptRun {
  readonly #deps: AttemptDependencies;
  readonly #input: AttemptInput;
  readonly #context: AttemptContext;
  readonly #make: MakeAttempt;
  #endAtMs: number;
  /** Reserved, but not sent: the endpoint got into trouble, changed or is busy, or the time was up. */
  readonly #unused: { readonly id: string; readonly reservation: string }[] = [];
  readonly #faults: unknown[] = [];
  /** The worker is shutting down, and there was more to attempt. */
  #interrupted = false;
  /** The endpoint's queue was full: its workflow returns at this time, in milliseconds since 1970. */
  #comeBackAtMs = 0;
  readonly #settled = new Set<string>();
  readonly #outcomes: EndpointOutcome[] = [];

  constructor(deps: AttemptDependencies, input: AttemptInput, context: AttemptContext) {
    this.#deps = deps;
    this.#input = input;
    this.#context = context;
    this.#make = attemptMaker(deps, {
      kind: input.lane,
      ladderMs: input.ladderMs,
      workflowId: context.workflowId,
      // One for the run, so that an endpoint's retries stay together.
      lateness: Math.random(),
      mayBegin: () => this.#mayBegin(),
    });
    this.#endAtMs = performance.now() + RUN_MS[input.lane];
  }

  async run(): Promise<AttemptOutput> {
    const { lane: kind, deliveryIds } = this.#input;
    const { db, health } = this.#deps;
    const ids = kind === 'fan-out' ? await this.#attemptFirst(deliveryIds) : [...deliveryIds];
    if (kind !== 'fan-out') await this.#attemptAll(ids, false);
    if (this.#unused.length > 0) await releaseAttempts(db.lasting, this.#unused);
    if (this.#faults.length > 0) throw this.#faults[0];
    await health.write(this.#outcomes);
    if (this.#interrupted) throw new ShuttingDown();
    // Each stays with its workflow.
    if (kind === 'recovery') return { waiting: [] };
    return this.#settle(ids.filter((id) => !this.#settled.has(id)));
  }

  /** Attempts what no lane does, and waits for the lanes. @returns the deliveries that were not final */
  #attemptFirst(ids: readonly string[]): Promise<readonly string[]> {
    return waitForLanes({
      ids,
      db: this.#deps.db,
      lane: this.#context.laneAttempts,
      goOn: () => this.#mayStay(),
      attempt: (free, againstLeases) => this.#attemptAll(free, againstLeases),
    });
  }

  /** Resolves when every started attempt has ended, also after an error. */
  async #attemptAll(ids: readonly string[], againstLeases: boolean): Promise<void> {
    const { lane: kind } = this.#input;
    const size = WINDOW[kind];
    const attempts: Promise<void>[] = [];
    try {
      for (let at = 0; at < ids.length && this.#comeBackAtMs === 0 && this.#mayBegin(); at += size) {
        if (!(await this.#untilReady(at === 0))) break;
        const reservation = randomUUID();
        // What the statement reads of an endpoint is as old as its start, however late the rows arrive.
        const reservedAtMs = performance.now();
        const window = await this.#reserve(ids.slice(at, at + size), reservation, againstLeases);
        const running = window.map((attempt) => this.#attempt(attempt, reservation, reservedAtMs));
        attempts.push(...running);
        if (at + size < ids.length) await halfDone(running, kind === 'fan-out' ? NEXT_WINDOW_MS : undefined);
      }
    } catch (error) {
      this.#faults.push(error);
    }
    await Promise.all(attempts);
  }

  /** @returns whether results can be written, and more may be reserved */
  async #untilReady(isFirst: boolean): Promise<boolean> {
    const { recorder, draining } = this.#deps;
    const { givenUp, repeated } = this.#context;
    await recorder.ready(() => !draining.aborted && !givenUp.aborted, isFirst && repeated);
    // While nothing has been sent there is no retry that could become due meanwhile.
    if (isFirst) this.#endAtMs = performance.now() + RUN_MS[this.#input.lane];
    return this.#mayBegin();
  }

  /** Whether the run goes on, be it only to wait. */
  #mayStay(): boolean {
    if (this.#deps.draining.aborted) this.#interrupted = true;
    return !this.#interrupted && !this.#context.givenUp.aborted && this.#faults.length === 0;
  }

  #mayBegin(): boolean {
    return this.#mayStay() && performance.now() < this.#endAtMs;
  }

  #reserve(ids: readonly string[], reservation: string, againstLeases: boolean): Promise<ReservedAttempt[]> {
    const { db, steady, now } = this.#deps;
    const { lane: kind } = this.#input;
    if (kind === 'manual') return reserveManualAttempts(db, ids, reservation);
    return kind === 'recovery'
      ? reserveRecoveryAttempts(db, ids, reservation)
      : reserveAttempts(steady, ids, reservation, new Date(now()), againstLeases);
  }

  /** Never rejects: failures are outcomes, or one of `#faults`. */
  async #attempt(reserved: ReservedAttempt, reservation: string, reservedAtMs: number): Promise<void> {
    const { slots, now } = this.#deps;
    const { lane: kind } = this.#input;
    const { id, endpointId } = reserved;
    const end = await this.#make(reserved, reservedAtMs);
    if (end.kind === 'unrecorded') this.#faults.push(end.fault);
    else if (end.kind === 'unsent') {
      if (end.withoutSlot && kind === 'endpoint') this.#comeBackAtMs = now() + slots.comeBackInMs(endpointId);
      // In a workflow of the endpoint it is repeated until the cause is removed; in a fan-out it must not block others.
      if (end.fault !== undefined && kind !== 'fan-out') this.#faults.push(end.fault);
      this.#mayBegin(); // notes that the worker is shutting down
      this.#unused.push({ id, reservation });
    } else {
      const { status, error } = end.record;
      if (status === 'success' || status === 'exhausted') this.#settled.add(id);
      this.#outcomes.push({ endpointId, status, error });
    }
  }

  /** Ends deliveries that may not be sent any more and returns those that still need an attempt, by endpoint. */
  async #settle(ids: readonly string[]): Promise<AttemptOutput> {
    if (ids.length === 0) return { waiting: [] };
    const { workflowId } = this.#context;
    const next =
      this.#input.lane === 'fan-out'
        ? { prefix: 'delivery/', suffix: `/${workflowId}` }
        : { prefix: '', suffix: workflowId };
    const open = await settleUnattempted(this.#deps.db, ids, workflowId, next);
    return { waiting: waitingByEndpoint(open, this.#deps.now(), this.#comeBackAtMs) };
  }
}

/** Resolves when half of the promises are settled or the time, if there is one, is up. */
function halfDone(promises: readonly Promise<unknown>[], timeMs: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = timeMs === undefined ? undefined : setTimeout(resolve, timeMs);
    let open = Math.ceil(promises.length / 2);
    const one = () => {
      if (--open > 0) return;
      clearTimeout(timer);
      resolve();
    };
    if (promises.length === 0) one();
    for (const promise of promises) promise.then(one, one);
  });
}

/** First attempts of the fast lane of this process that are in flight; the list is complete. */
export interface LaneAttempts {
  /** Of the lane, as leases name it. */
  readonly id: string;
  /** The attempt of a delivery, resolved when its result is recorded or it is left to a workflow. Never rejects. */
  inFlight(deliveryId: string): Promise<void> | undefined;
  /** A claim is in flight, or its answer was lost: the lane may have leased more than it knows. */
  readonly mayHaveLeasedMore: boolean;
}

export interface LaneWait {
  readonly ids: readonly string[];
  readonly db: Sql;
  readonly lane: LaneAttempts | undefined;
  /** Asked after every look: false ends the wait. */
  goOn(): boolean;
  /** Attempts deliveries. @param againstLeases though they have valid leases: the lane has lost them */
  attempt(ids: readonly string[], againstLeases: boolean): Promise<void>;
  /** How long lanes of other processes are waited for, in milliseconds; default: a minute. */
  readonly patienceMs?: number;
}

const LOOK_MIN_MS = 100;
const LOOK_MAX_MS = 1_000;
/**
 * Longer than a lane can take, with its wait for a slot, the request and the record, while the database can be read. Then
 * it has lost the delivery.
 */
const LANE_TAKES_MAX_MS = 60_000;

/** @returns those of the deliveries that were not final at the first look */
export async function waitForLanes(wait: LaneWait): Promise<readonly string[]> {
  const { db, lane, patienceMs = LANE_TAKES_MAX_MS } = wait;
  let waitedMs = 0;
  let open: readonly string[] = wait.ids;
  let found: readonly string[] | undefined;
  const attempted = new Set<string>();
  for (let lookMs = LOOK_MIN_MS; ; lookMs = Math.min(LOOK_MAX_MS, lookMs * 2)) {
    const rows = open.length === 0 ? [] : await carriedDeliveries(db, open);
    found ??= rows.map(({ id }) => id);
    const impatient = waitedMs >= patienceMs;
    const leased = rows.filter((row) => isLeased(row, lane, impatient));
    const free = rows.filter((row) => row.pending && !leased.includes(row) && !attempted.has(row.id));
    for (const lost of [false, true]) {
      const ids = free.filter((row) => (row.lane !== null) === lost).map(({ id }) => id);
      if (ids.length > 0) await wait.attempt(ids, lost);
    }
    for (const { id } of free) attempted.add(id);
    // Another lane may have taken over deliveries that seemed free, so these are checked again.
    open = [...leased, ...free].map(({ id }) => id);
    if (open.length === 0 || !wait.goOn()) return found;
    if (free.length > 0) continue;
    const sinceMs = performance.now();
    await ended(
      leased.map(({ id }) => id),
      lane,
      lookMs,
    );
    // Not the time of a look: after an outage of the database, lanes have results to write.
    waitedMs += performance.now() - sinceMs;
  }
}

/** The memory of the own lane is exact; of others the row decides. @param impatient others have had their time */
function isLeased({ id, lane }: CarriedDelivery, own: LaneAttempts | undefined, impatient: boolean): boolean {
  if (own?.inFlight(id) !== undefined) return true;
  return !impatient && lane !== null && (lane !== own?.id || own.mayHaveLeasedMore);
}

/** Resolves when the own lane has ended all of them, or when it is time to look again. */
async function ended(ids: readonly string[], own: LaneAttempts | undefined, lookMs: number): Promise<void> {
  const inFlight = ids.map((id) => own?.inFlight(id));
  const inMemory = inFlight.filter((attempt) => attempt !== undefined);
  const all = inMemory.length === ids.length;
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, all ? LOOK_MAX_MS : lookMs);
  });
  await Promise.race(all ? [Promise.all(inMemory), time] : [time]);
  clearTimeout(timer);
}

/**
 * Deliveries that still need an attempt, by endpoint.
 *
 * @param nowMs when those without a time are due, in milliseconds since 1970
 * @param notBeforeMs the least time for all of them
 */
export function waitingByEndpoint(
  open: readonly OpenDelivery[],
  nowMs: number,
  notBeforeMs: number,
): readonly WaitingEndpoint[] {
  const endpoints = new Map<string, WaitingEndpoint & { deliveries: { id: string; dueAtMs: number }[] }>();
  for (const delivery of open) {
    let endpoint = endpoints.get(delivery.endpointId);
    if (endpoint === undefined) {
      const { endpointId, organizationId, mailboxId } = delivery;
      endpoint = { endpointId, organizationId, mailboxId, deliveries: [] };
      endpoints.set(endpointId, endpoint);
    }
    const dueAtMs = delivery.nextAttemptAt?.getTime() ?? nowMs;
    endpoint.deliveries.push({ id: delivery.id, dueAtMs: Math.max(dueAtMs, notBeforeMs) });
  }
  return [...endpoints.values()];
}
