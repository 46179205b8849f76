/**
 * Makes first attempts at once, without waiting for a workflow.
 *
 *   wake-up ──▶ claim + reserve up to 100 in one statement ──▶ attempt each ──▶ record, which ends the lease
 *                   │ claim again at once; what hangs is waited for by nobody      │
 *                   └─▶ slow, inactive: passed on to a workflow                    └─▶ not sent: number given back, passed on
 *
 * The lane owns nothing. A delivery that it has taken contains the lane's id as a lease, which is valid only while the
 * lane shows signs of life. The dispatcher starts a workflow for all deliveries that lanes have taken. Its activity
 * (`attempt-deliveries.ts`) skips acknowledged ones, waits for attempts in flight, hands failed ones to
 * `endpointDelivery`, and takes over those of a dead lane. So a lane that is off, full or dead changes times, never
 * outcomes.
 *
 * **Signs of life** are written into the database twice a second. Leases of the lane are valid for 2.5 seconds after its
 * last sign, and longer while no other lane can write its signs either.
 *
 *   sign ──▶ sure for two seconds ──no sign──▶ unsure: nothing is claimed or sent ──sign──▶ sure of new leases alone
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { batcher, inOrder } from '#core/platform/batching/batcher.ts';
import { wakeablePause } from '#core/platform/batching/circuit.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { laneDeliveries } from '#core/platform/log/metrics.ts';
import { FURTHER_CONNECTIONS } from '#core/platform/process/database-connections.ts';
import type { Services } from '#core/platform/process/services.ts';
import { retryDelaysMs } from '#core/platform/settings/settings.ts';
import { deliveryClaims, fairShares, reportedSql } from '#core/webhooks/dispatcher/claims.ts';
import { openSteadyPlans, type Sql } from '#db/database.ts';
import { releaseAttempts } from '#db/queries/deliveries/attempts.ts';
import {
  endLeases,
  type LaneDelivery,
  leasedUnder,
  leaseFairly,
  leaseLeftBehind,
  leaseOldest,
} from '#db/queries/deliveries/claim-deliveries.ts';
import { leaseAllowances } from '#db/queries/deliveries/delivery-allowances.ts';
import { endLane, showLife } from '#db/queries/deliveries/lane-life.ts';
import { LANE_SIGN_MS, LANE_VALID_MS } from '#domain/webhooks/delivery-limits.ts';
import type { LaneAttempts } from './attempt-deliveries.ts';
import type { EndpointOutcome } from './endpoint-health.ts';
import { type AttemptDependencies, attemptMaker, type MakeAttempt } from './make-attempt.ts';

export interface FastLane extends LaneAttempts {
  /** Resolves when the attempts in flight have ended and nothing is leased any more. Abort `draining` before. */
  close(): Promise<void>;
}

/** Attempts in flight, most of which wait for answers. */
const IN_FLIGHT_MAX = 4_000;
/**
 * Part of it that one organization may have: about what its endpoints can have in flight. What waits for a slot longer
 * has its attempt reserved, which counts if the process dies.
 */
const ORGANIZATION_MAX = 250;
const CLAIM_MAX = 100;
/** An attempt that has not begun by then is left to a workflow. */
const BEGIN_WITHIN_MS = 10_000;
/** Least time between two claims that found something: a lone event waits for none, a burst is claimed in portions. */
const CLAIM_GAP_MS = 3;
const IDLE_LOOK_MS = 1_000;
const RETRY_MS = 1_000;
/** Between claims that find nothing though something waits, of organizations over their share. */
const NOTHING_FOUND_MS = 20;
const RELEASES_PER_WRITE = 200;
const RELEASE_GATHER_MS = 10;
const OUTCOMES_PER_WRITE = 1_000;
const OUTCOME_GATHER_MS = 50;

export function startFastLane(
  services: Pick<Services, 'settings' | 'deliveriesDue' | 'now' | 'log'>,
  deps: AttemptDependencies,
): FastLane {
  const { log, now, deliveriesDue, settings } = services;
  const { recorder, draining } = deps;
  const { lasting } = deps.db;
  const id = randomUUID();
  const ladderMs = retryDelaysMs(settings);
  const db = openSteadyPlans(settings.DATABASE_URL ?? '', FURTHER_CONNECTIONS.fastLane);
  const life = signOfLife(db, id, log);
  const inFlight = new Map<string, Promise<void>>();
  const reported = reportedSql(db, log);
  const shares = fairShares(ORGANIZATION_MAX, (wanted) => leaseAllowances(reported, wanted));
  const claims = deliveryClaims<LaneDelivery>(
    {
      oldest: (reservation, bounds) => leaseOldest(reported, id, reservation, bounds),
      fairly: (reservation, claim) => leaseFairly(reported, id, reservation, claim),
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
  let claimedAtMs = Number.NEGATIVE_INFINITY;
  let lookForDeadAtMs = Number.NEGATIVE_INFINITY;
  let woken = true; // what waited before this process began
  const isClosed = () => draining.aborted;
  const { pause: sleep, wake: endSleep } = wakeablePause(isClosed);

  function wake(): void {
    woken = true;
    endSleep();
  }

  async function attempt(make: MakeAttempt, delivery: LaneDelivery, reservation: string, atMs: number): Promise<void> {
    const end = await make(delivery, atMs);
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
        await endLeases(lasting, id, [delivery.id]);
      }
    } catch (error) {
      log.error({ deliveryId: delivery.id, error: String(error) }, 'a delivery stays leased until its lane ends');
    }
  }

  /** @param askedAtMs before the claim */
  function begin(reservation: string, taken: readonly LaneDelivery[], askedAtMs: number): void {
    const atMs = performance.now();
    const make = attemptMaker(deps, {
      kind: 'fan-out',
      ladderMs,
      workflowId: null,
      lateness: Math.random(),
      mayBegin: () => !isClosed() && life.leasesValidSince(askedAtMs) && performance.now() < atMs + BEGIN_WITHIN_MS,
    });
    for (const delivery of taken.filter(({ leased }) => leased)) {
      const { organizationId, plan } = delivery;
      shares.taken(organizationId, plan, 1);
      const ended = attempt(make, delivery, reservation, atMs).finally(() => {
        inFlight.delete(delivery.id);
        laneDeliveries.set(inFlight.size);
        shares.done(organizationId, 1);
      });
      inFlight.set(delivery.id, ended);
    }
    laneDeliveries.set(inFlight.size);
  }

  async function claimOnce(): Promise<void> {
    const room = Math.min(CLAIM_MAX, IN_FLIGHT_MAX - inFlight.size);
    if (room <= 0) {
      woken = true;
      return sleep(NOTHING_FOUND_MS);
    }
    const waitMs = claimedAtMs + CLAIM_GAP_MS - performance.now();
    if (waitMs > 0) await delay(waitMs);
    woken = false; // whatever woke it is found now
    claiming = true;
    const askedAtMs = performance.now();
    const { claimId, claimed, mayBeMore } = await claims.next({ room, nowMs: now() });
    begin(claimId, claimed, askedAtMs);
    claiming = false;
    if (claimed.length > 0) claimedAtMs = performance.now();
    if (!mayBeMore) return;
    woken = true;
    if (claimed.length === 0) await sleep(NOTHING_FOUND_MS);
  }

  /** What dead lanes have left behind. If the answer is lost, workflows find that this lane knows nothing of it. */
  async function takeOver(): Promise<void> {
    const room = Math.min(CLAIM_MAX, IN_FLIGHT_MAX - inFlight.size);
    if (room <= 0 || performance.now() < lookForDeadAtMs) return;
    claiming = true;
    const reservation = randomUUID();
    const askedAtMs = performance.now();
    const bounds = { room, nowMs: now(), everything: true };
    const taken = await leaseLeftBehind(reported, id, reservation, bounds);
    begin(reservation, taken, askedAtMs);
    claiming = false;
    if (taken.length < room) lookForDeadAtMs = performance.now() + IDLE_LOOK_MS;
    else woken = true;
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
      } catch {
        // `claiming` stays set: the next claim asks what this one has taken.
        await sleep(RETRY_MS * (0.5 + Math.random() / 2));
        woken = true;
      }
    }
  }

  async function end(): Promise<void> {
    wake();
    await running;
    await Promise.all(inFlight.values());
    await outcomes.idle();
    await life.end();
    await db.close();
  }

  draining.addEventListener('abort', wake, { once: true });
  deliveriesDue.onWake(wake, { makesFirstAttempts: true });
  const running = loop();
  let closed: Promise<void> | undefined;
  return {
    id,
    inFlight: (deliveryId) => inFlight.get(deliveryId),
    get mayHaveLeasedMore() {
      return claiming;
    },
    close() {
      closed ??= end();
      return closed;
    },
  };
}

export interface SignOfLife {
  /**
   * Whether the leases are valid for some time yet. False while the database is away, or after this process stood
   * still: others may have taken over, and nothing may be claimed or sent.
   */
  readonly isSure: boolean;
  /**
   * Whether leases taken then are valid: it is sure, and has been since. @param atMs `performance.now()` before the claim
   */
  leasesValidSince(atMs: number): boolean;
  /** Resolves when it is sure, or has ended. */
  untilSure(): Promise<void>;
  /** Frees what is still leased. */
  end(): Promise<void>;
}

/** A request that begins this long before the leases expire was sent while they were valid. */
const MARGIN_MS = 500;
const LOOK_MS = 100;

/** By two clocks: one stands still while the machine is suspended, the other can be set. */
interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const thisMoment = (): Moment => ({ monotonicMs: performance.now(), wallMs: Date.now() });

/** By the clock on which more time has passed. */
const sinceMs = ({ monotonicMs, wallMs }: Moment): number =>
  Math.max(performance.now() - monotonicMs, Date.now() - wallMs);

export function signOfLife(sql: Sql, lane: string, log: Logger): SignOfLife {
  /** When the last sign that arrived was sent. */
  let shown: Moment | undefined;
  /** When it became sure. */
  let unbrokenSinceMs = Number.POSITIVE_INFINITY;
  let ended = false;
  let showing: Promise<void> | undefined;

  const isSure = () => !ended && shown !== undefined && sinceMs(shown) < LANE_VALID_MS - MARGIN_MS;

  async function show(): Promise<void> {
    const sentAt = thisMoment();
    try {
      await showLife(sql, lane);
      // What was leased before may have been taken over.
      if (!isSure()) unbrokenSinceMs = performance.now();
      shown = sentAt;
    } catch (error) {
      // The claims meet the same outage and report it.
      log.debug({ error: reasonOf(error) }, 'no sign of life could be written');
    }
  }

  function showSoon(): void {
    if (ended) return;
    showing ??= show().finally(() => {
      showing = undefined;
    });
  }

  const timer = setInterval(showSoon, LANE_SIGN_MS);
  showSoon();
  return {
    get isSure() {
      return isSure();
    },
    leasesValidSince: (atMs) => isSure() && unbrokenSinceMs <= atMs,
    async untilSure() {
      while (!ended && !isSure()) {
        showSoon();
        await Promise.all([showing, delay(LOOK_MS)]);
      }
    },
    async end() {
      ended = true;
      clearInterval(timer);
      await showing;
      // If it fails, the leases expire.
      await endLane(sql, lane).catch(() => {});
    },
  };
}
