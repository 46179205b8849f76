/**
 * How a fan-out deals with first attempts that a fast lane makes, here or in another process.
 *
 *   read the rows ──▶ final: nothing to do
 *        ▲       ├──▶ in a lane with signs of life: wait, do not send
 *        │       └──▶ in none, or in a dead one: attempt now
 *        └── a lane has ended an attempt, or some time has passed
 */
import type { Sql } from '#db/database.ts';
import { type CarriedDelivery, carriedDeliveries } from '#db/queries/deliveries/attempts.ts';

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
