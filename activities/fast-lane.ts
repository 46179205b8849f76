/**
 * Makes first attempts at once, without waiting for a workflow.
 *
 *   an event is recorded in this process ──▶ its rows are leased by their insert ──commit──┐
 *   wake-up ──▶ claim + reserve up to 100 in one statement ──────────────────────────────▶ attempt each ──▶ record, which
 *                   │ claim again at once; what hangs is waited for by nobody                  │            ends the lease
 *                   └─▶ slow, inactive: passed on to a workflow                                └─▶ not sent: number given
 *                                                                                                  back, passed on
 *
 * **Direct leases** (`db/direct-lease.ts`) are the rule, claims the exception: for events that other processes record,
 * for endpoints with many deliveries in the lane, and for what an organization has beyond its share. An endpoint of which
 * deliveries wait for a claim gets no direct leases until they are claimed, so that younger ones do not pass them.
 *
 * The lane owns nothing. A delivery that it has taken contains the lane's id as a lease, which is valid only while the
 * lane shows signs of life. Its row also names a fan-out, which the lane starts within a second or two
 * (`lane-batches.ts`). The activity of the fan-out (`attempt-deliveries.ts`) skips acknowledged ones, waits for attempts in flight, hands failed ones to
 * `endpointDelivery`, and takes over those of a dead lane. So a lane that is off, full or dead changes times, never
 * outcomes.
 *
 * **From other processes.** An api or mail process without a lane leases deliveries to this one, which offers room in its
 * signs of life, and says so by NOTIFY after the commit (`core/platform/process/lanes-elsewhere.ts`). They are read, not
 * written, and attempted.
 *
 * **What it does not know.** Once in two seconds it looks for deliveries that are leased to it and not in its memory: the
 * answer to a commit or claim was lost, or the message of another process. It takes those up.
 *
 * Its leases are valid while it shows signs of life (`sign-of-life.ts`).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { batcher, inOrder } from '#core/platform/batching/batcher.ts';
import { wakeablePause } from '#core/platform/batching/circuit.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { laneDeliveries } from '#core/platform/log/metrics.ts';
import { FURTHER_CONNECTIONS } from '#core/platform/process/database-connections.ts';
import type { Services } from '#core/platform/process/services.ts';
import { retryDelaysMs } from '#core/platform/settings/settings.ts';
import { deliveryClaims, fairShares, reportedSql } from '#core/webhooks/dispatcher/claims.ts';
import type { BatchPlace, LaneBatches } from '#core/webhooks/dispatcher/lane-batches.ts';
import { openSteadyPlans } from '#db/database.ts';
import type { DirectLease, LeasingLane } from '#db/direct-lease.ts';
import { releaseAttempts } from '#db/queries/deliveries/attempts.ts';
import {
  endLeases,
  type LaneDelivery,
  type LeasedDelivery,
  leasedTo,
  leasedUnder,
  leaseFairly,
  leaseLeftBehind,
  leaseOldest,
  stillLeased,
} from '#db/queries/deliveries/claim-deliveries.ts';
import { leaseAllowances } from '#db/queries/deliveries/delivery-allowances.ts';
import type { LaneOffer } from '#db/queries/deliveries/lane-life.ts';
import type { LaneAttempts } from './attempt-deliveries.ts';
import type { EndpointOutcome } from './endpoint-health.ts';
import { type AttemptDependencies, attemptMaker, type MakeAttempt } from './make-attempt.ts';
import { signOfLife } from './sign-of-life.ts';

export interface FastLane extends LaneAttempts {
  /** Resolves when the attempts in flight have ended and nothing is leased any more. Abort `draining` before. */
  close(): Promise<void>;
}

/** How a lane took deliveries; times of `performance.now()`. */
interface Taking {
  readonly reservation: string;
  /** Before the statement that leased them. */
  readonly askedAtMs: number;
  /** When it read their endpoints. */
  readonly readAtMs: number;
}

/** Attempts in flight, most of which wait for answers. */
const IN_FLIGHT_MAX = 4_000;
/**
 * Part of it that one organization may have: about what its endpoints can have in flight. What waits for a slot longer
 * has its attempt reserved, which counts if the process dies.
 */
const ORGANIZATION_MAX = 250;
/** The same for direct leases, of which each endpoint has about a second's: see `EndpointSlots.crowded`. */
const ORGANIZATION_DIRECT_MAX = 1_000;
const CLAIM_MAX = 100;
/** Deliveries that are leased to it, and are read together. */
const TAKEN_UP_MAX = 500;
/** Attempts share for so long what was read and opened for them. */
const SHARED_MS = 1_000;
/** A transaction that ends later than this after it read an endpoint may have missed a change of it: it is read again. */
const READ_AGAIN_AFTER_MS = 20;
/** Endpoints that are passed over; if there are more, all deliveries wait for claims. */
const PASSED_OVER_MAX = 200;
/** While some deliveries are never claimed, such as those of an organization over its rate, an endpoint is passed over so long. */
const UNTAKEN_MAX_MS = 5_000;
/** Part of its room that a lane offers to each of the other processes. */
const OFFERED_PART = 0.25;
/** The list of crowded endpoints is made anew after this time. */
const CROWDED_MS = 20;
/** How long `close` waits for transactions with direct leases. */
const OPEN_LEASES_GRACE_MS = 3_000;
/** An attempt that has not begun by then is left to a workflow. */
const BEGIN_WITHIN_MS = 10_000;
/** Least time between two claims that found something: a lone event waits for none, a burst is claimed in portions. */
const CLAIM_GAP_MS = 3;
const IDLE_LOOK_MS = 1_000;
const RETRY_MS = 1_000;
/** How often it looks for deliveries that are leased to it and not in its memory. */
const UNKNOWN_LOOK_MS = 2_000;
/** Between claims that find nothing though something waits, of organizations over their share. */
const NOTHING_FOUND_MS = 20;
const RELEASES_PER_WRITE = 200;
const RELEASE_GATHER_MS = 10;
const OUTCOMES_PER_WRITE = 1_000;
const OUTCOME_GATHER_MS = 50;

/** @param batches left out: dispatchers start the fan-outs of what the lane takes */
export function startFastLane(
  services: Pick<Services, 'db' | 'settings' | 'deliveriesDue' | 'now' | 'log'>,
  deps: AttemptDependencies,
  batches?: LaneBatches,
): FastLane {
  const { log, now, deliveriesDue, settings } = services;
  const { recorder, draining } = deps;
  const { lasting } = deps.db;
  const id = randomUUID();
  const ladderMs = retryDelaysMs(settings);
  const db = openSteadyPlans(settings.DATABASE_URL ?? '', FURTHER_CONNECTIONS.fastLane);
  const inFlight = new Map<string, Promise<void>>();
  const reported = reportedSql(db, log);
  const shares = fairShares(ORGANIZATION_MAX, (wanted) => leaseAllowances(reported, wanted));
  const claims = deliveryClaims<LaneDelivery>(
    {
      oldest: (reservation, bounds) => leaseOldest(reported, leasingUnder(reservation), bounds),
      fairly: (reservation, claim) => leaseFairly(reported, leasingUnder(reservation), claim),
      stampedWith: (reservation) => leasedUnder(reported, id, reservation, now()),
      newId: () => randomUUID(),
    },
    () => shares.excluded(),
  );
  const releases = batcher<{ readonly id: string; readonly reservation: string }, 'released'>({
    policy: inOrder(RELEASES_PER_WRITE, RELEASE_GATHER_MS),
    concurrency: 1,
    async carryOut(batch) {
      await releaseAttempts(lasting, batch);
      return batch.map(() => 'released');
    },
  });
  const outcomes = batcher<EndpointOutcome, 'noted'>({
    policy: inOrder(OUTCOMES_PER_WRITE, OUTCOME_GATHER_MS),
    concurrency: 1,
    async carryOut(batch) {
      try {
        await deps.health.write(batch);
      } catch (error) {
        log.warn({ error: reasonOf(error) }, 'outcomes of endpoints were not noted');
      }
      return batch.map(() => 'noted');
    },
  });
  let claiming = false;
  /** The place in a batch of the claim that is running. */
  let place: BatchPlace | undefined;
  /** Reservations of direct leases whose transactions have not ended. */
  const openLeases = new Set<string>();
  /** Their deliveries, as far as they are written. */
  let openDeliveries = 0;
  let onLeasesEnded = () => {};
  /** Deliveries that are leased to it, and being read. */
  const arriving = new Set<string>();
  /** Deliveries that it has ended, though their rows may say that they are leased. */
  const leftLeased = new Set<string>();
  /** Endpoints of which deliveries wait for a claim, and since when at the latest, `performance.now()`. */
  const untaken = new Map<string, number>();
  let crowded: { readonly ids: readonly string[]; readonly atMs: number } = { ids: [], atMs: Number.NEGATIVE_INFINITY };
  let shared: { readonly make: MakeAttempt; readonly untilMs: number } | undefined;
  let claimedAtMs = Number.NEGATIVE_INFINITY;
  let lookForDeadAtMs = Number.NEGATIVE_INFINITY;
  let lookForUnknownAtMs = Number.NEGATIVE_INFINITY;
  /** Whether a commit whose answer was lost has left deliveries. */
  let someUnknown = false;
  let woken = true; // what waited before this process began
  /** Deliveries may wait for a claim: somebody said so, and no claim has found their end since. */
  let someWait = true;
  const isClosed = () => draining.aborted;
  const { pause: sleep, wake: endSleep } = wakeablePause(isClosed);
  const life = signOfLife(db, id, log, offer);

  function wake(): void {
    woken = true;
    someWait = true;
    endSleep();
  }

  async function attempt(delivery: LaneDelivery, { reservation, askedAtMs, readAtMs }: Taking): Promise<void> {
    const end = await makerOfNow()(delivery, askedAtMs, readAtMs);
    try {
      if (end.kind === 'recorded') {
        const { status, error } = end.record;
        void outcomes.add({ endpointId: delivery.endpointId, status, error });
      } else if (end.kind === 'unsent') await releases.add({ id: delivery.id, reservation });
      else {
        log.error(
          { deliveryId: delivery.id, error: String(end.fault) },
          'the result of an attempt could not be stored',
        );
        leftLeased.add(delivery.id);
        await endLeases(lasting, id, [delivery.id]);
        leftLeased.delete(delivery.id);
      }
    } catch (error) {
      leftLeased.add(delivery.id);
      log.error({ deliveryId: delivery.id, error: String(error) }, 'a delivery stays leased until its lane ends');
    }
  }

  const leasingUnder = (reservation: string) => ({ lane: id, reservation, fanOutId: place?.fanOutId ?? null });

  /** Attempts of about a second share a maker, however many claims and events they come from. */
  function makerOfNow(): MakeAttempt {
    const nowMs = performance.now();
    if (shared !== undefined && nowMs < shared.untilMs) return shared.make;
    const make = attemptMaker(deps, {
      kind: 'fan-out',
      ladderMs,
      workflowId: null,
      lateness: Math.random(),
      mayBegin: (askedAtMs) =>
        !isClosed() && life.leasesValidSince(askedAtMs) && performance.now() < askedAtMs + BEGIN_WITHIN_MS,
    });
    shared = { make, untilMs: nowMs + SHARED_MS };
    return make;
  }

  function count(taken: readonly LaneDelivery[]): void {
    for (const { organizationId, plan } of taken) shares.taken(organizationId, plan, 1);
  }

  /** @param taken that are counted */
  function begin(taken: readonly LaneDelivery[], taking: Taking): void {
    for (const delivery of taken) {
      const { organizationId } = delivery;
      const ended = attempt(delivery, taking).finally(() => {
        inFlight.delete(delivery.id);
        laneDeliveries.set(inFlight.size);
        shares.done(organizationId, 1);
      });
      inFlight.set(delivery.id, ended);
    }
    laneDeliveries.set(inFlight.size);
  }

  /** Begins what a claim has taken. Rows that have named a fan-out before stay with it. */
  function beginClaimed(claimed: readonly LaneDelivery[], taking: Taking): void {
    const leased = claimed.filter((delivery) => delivery.leased);
    count(leased);
    begin(leased, taking);
    const isOwn = ({ fanOutId }: LaneDelivery) => fanOutId === place?.fanOutId;
    endPlace(leased.filter(isOwn));
    const others = leased.filter((delivery) => delivery.fanOutId !== null && !isOwn(delivery));
    if (others.length > 0) batches?.join(others);
  }

  function endPlace(taken: readonly LaneDelivery[]): void {
    place?.end(taken);
    place = undefined;
  }

  function room(): number {
    return IN_FLIGHT_MAX - inFlight.size - openDeliveries;
  }

  function crowdedNow(): readonly string[] {
    if (performance.now() - crowded.atMs >= CROWDED_MS)
      crowded = { ids: deps.slots.crowded(), atMs: performance.now() };
    return crowded.ids;
  }

  /** What it takes from processes without a lane. They say by NOTIFY what they have leased to it. */
  function offer(): LaneOffer | undefined {
    if (isClosed() || !recorder.isWell) return undefined;
    const endpointIds = [...untaken.keys(), ...crowdedNow()];
    if (endpointIds.length > PASSED_OVER_MAX) return undefined;
    return {
      room: Math.floor(Math.max(0, room() - openLeases.size) * OFFERED_PART),
      fanOutId: batches?.offered() ?? null,
      passedOver: { endpointIds, organizationIds: shares.allOver(ORGANIZATION_DIRECT_MAX) },
    };
  }

  /** For events that are recorded in this process. */
  const leasing: LeasingLane = {
    open(organizationIds) {
      if (isClosed() || !life.isSure || !recorder.isWell || room() <= openLeases.size) return undefined;
      const endpointIds = [...untaken.keys(), ...crowdedNow()];
      if (endpointIds.length > PASSED_OVER_MAX) return undefined;
      return openLease({ endpointIds, organizationIds: shares.over(organizationIds, ORGANIZATION_DIRECT_MAX) });
    },
  };

  function openLease(passedOver: DirectLease['passedOver']): DirectLease {
    const reservation = randomUUID();
    const askedAtMs = performance.now();
    const ofLease = batches?.open();
    let taken: readonly LaneDelivery[] = [];
    let left: readonly string[] = [];
    openLeases.add(reservation);
    return {
      lane: id,
      reservation,
      fanOutId: ofLease?.fanOutId ?? null,
      passedOver,
      wrote(leased: readonly LaneDelivery[], endpointIds) {
        taken = leased;
        left = endpointIds;
        // From here on, not from the commit: a transaction may be long, and others see what it has.
        openDeliveries += taken.length;
        count(taken);
        for (const endpointId of left) untaken.set(endpointId, performance.now());
      },
      ended(end) {
        openDeliveries -= taken.length;
        if (end === 'committed') {
          const isOld = performance.now() - askedAtMs > READ_AGAIN_AFTER_MS;
          begin(taken, { reservation, askedAtMs, readAtMs: isOld ? Number.NEGATIVE_INFINITY : askedAtMs });
          for (const endpointId of left) untaken.set(endpointId, performance.now());
        } else for (const { organizationId } of taken) shares.returned(organizationId, 1);
        // Whether there are rows is unknown after a lost answer: `takeUnknown` looks.
        if (end === 'unknown') {
          someUnknown = true;
          lookForUnknownAtMs = Number.NEGATIVE_INFINITY;
          wake();
        }
        ofLease?.end(end === 'rolled back' ? [] : taken);
        openLeases.delete(reservation);
        if (openLeases.size === 0) onLeasesEnded();
      },
    };
  }

  async function claimOnce(): Promise<void> {
    const most = Math.min(CLAIM_MAX, room());
    if (most <= 0) {
      woken = true;
      return sleep(NOTHING_FOUND_MS);
    }
    const waitMs = claimedAtMs + CLAIM_GAP_MS - performance.now();
    if (waitMs > 0) await delay(waitMs);
    woken = false; // whatever woke it is found now
    claiming = true;
    place = batches?.open();
    const askedAtMs = performance.now();
    const { claimId, claimed, mayBeMore } = await claims.next({ room: most, nowMs: now() }).catch(giveUpPlace);
    beginClaimed(claimed, { reservation: claimId, askedAtMs, readAtMs: askedAtMs });
    claiming = false;
    for (const [endpointId, sinceMs] of untaken)
      if (sinceMs < (mayBeMore ? askedAtMs - UNTAKEN_MAX_MS : askedAtMs)) untaken.delete(endpointId);
    if (claimed.length > 0) claimedAtMs = performance.now();
    if (!mayBeMore) someWait = woken;
    // While organizations are passed over a claim cannot tell whether it has found all.
    if (!mayBeMore || (claimed.length === 0 && !someWait)) return;
    woken = true;
    if (claimed.length === 0) await sleep(NOTHING_FOUND_MS);
  }

  /** What dead lanes have left behind. If the answer is lost, `takeUnknown` finds it. */
  async function takeOver(): Promise<void> {
    const most = Math.min(CLAIM_MAX, room());
    if (most <= 0 || performance.now() < lookForDeadAtMs) return;
    claiming = true;
    const reservation = randomUUID();
    place = batches?.open();
    const askedAtMs = performance.now();
    const bounds = { room: most, nowMs: now(), everything: true };
    const taken = await leaseLeftBehind(reported, leasingUnder(reservation), bounds).catch(giveUpPlace);
    beginClaimed(taken, { reservation, askedAtMs, readAtMs: askedAtMs });
    claiming = false;
    if (taken.length < most) lookForDeadAtMs = performance.now() + IDLE_LOOK_MS;
    else woken = true;
  }

  /** What is leased to it and not in its memory. */
  async function takeUnknown(): Promise<void> {
    if (performance.now() < lookForUnknownAtMs) return;
    claiming = true;
    someUnknown = false;
    const all = await leasedTo(reported, id, now());
    await takeLeased(all.filter(({ reservation }) => !openLeases.has(reservation)));
    claiming = false;
    lookForUnknownAtMs = performance.now() + UNKNOWN_LOOK_MS;
  }

  /** Reads again what is said to be leased to it: only what still is, and not in its memory, is attempted. */
  async function takeLeased(said: readonly LeasedDelivery[]): Promise<void> {
    const isKnown = (deliveryId: string) =>
      inFlight.has(deliveryId) || arriving.has(deliveryId) || leftLeased.has(deliveryId);
    const unknown = said.filter((delivery) => !isKnown(delivery.id)).slice(0, TAKEN_UP_MAX);
    if (unknown.length === 0) return;
    for (const delivery of unknown) arriving.add(delivery.id);
    try {
      const askedAtMs = performance.now();
      const still = await stillLeased(reported, id, unknown);
      const sendable = still.filter(({ leased }) => leased);
      count(sendable);
      const reservations = new Map(unknown.map((delivery) => [delivery.id, delivery.reservation]));
      for (const delivery of sendable) {
        const reservation = reservations.get(delivery.id) ?? '';
        begin([delivery], { reservation, askedAtMs, readAtMs: askedAtMs });
      }
      batches?.join(still);
      const others = still.filter(({ leased }) => !leased);
      if (others.length > 0)
        await endLeases(
          reported,
          id,
          others.map((delivery) => delivery.id),
        );
    } finally {
      for (const delivery of unknown) arriving.delete(delivery.id);
    }
  }

  function giveUpPlace(error: unknown): never {
    endPlace([]);
    throw error;
  }

  async function loop(): Promise<void> {
    while (!isClosed()) {
      if (!woken) await sleep(IDLE_LOOK_MS);
      await life.untilSure();
      // Results must be writable, and few of them waiting to be written.
      if (!(await recorder.ready(() => !isClosed() && life.isSure))) continue;
      woken = false;
      try {
        await claimOnce();
        await takeOver();
        await takeUnknown();
      } catch {
        // `claiming` stays set: the next claim asks what this one has taken.
        await sleep(RETRY_MS * (0.5 + Math.random() / 2));
        woken = true;
      }
    }
  }

  async function end(): Promise<void> {
    wake();
    services.db.lanes.delete(leasing);
    await running;
    await leasesEnded();
    await Promise.all(inFlight.values());
    await outcomes.idle();
    await batches?.close();
    await life.end();
    await db.close();
  }

  /** What is committed later has a dead lane, and is found by others. */
  async function leasesEnded(): Promise<void> {
    if (openLeases.size === 0) return;
    const ended = new Promise<void>((resolve) => {
      onLeasesEnded = resolve;
    });
    await Promise.race([ended, delay(OPEN_LEASES_GRACE_MS, undefined, { ref: false })]);
  }

  draining.addEventListener('abort', wake, { once: true });
  deliveriesDue.onWake(wake, { makesFirstAttempts: true });
  deliveriesDue.onHandOver(id, (leased) => void takeLeased(leased).catch(() => {})); // `takeUnknown` finds them
  services.db.lanes.add(leasing);
  const running = loop();
  let closed: Promise<void> | undefined;
  return {
    id,
    inFlight: (deliveryId) => inFlight.get(deliveryId),
    get mayHaveLeasedMore() {
      return claiming || someUnknown || openLeases.size > 0 || arriving.size > 0;
    },
    close() {
      closed ??= end();
      return closed;
    },
  };
}
