/**
 * Which deliveries are claimed next, by a dispatcher or a fast lane, and how much of it one organization may use.
 *
 * **Order.** The oldest first. When that leaves a backlog, every other claim takes a few of each organization instead.
 * While an organization uses its whole share, all claims do, and pass over it. The answer of a claim can be lost with its
 * connection: the next claim then asks first for what has its id.
 *
 * **Shares.** An organization has a share of the deliveries in flight, and the rate of its plan. Over either, it is
 * skipped until it is below again: its deliveries are delayed, never dropped. The rate applies to all dispatchers
 * together. Each leases portions of half a second's deliveries from the organization's token bucket in PostgreSQL, so an
 * organization costs two writes a second at most. Claims do not wait for a lease: deliveries beyond it are a debt in the
 * bucket, and all dispatchers then skip the organization.
 */

import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { DATABASE } from '#core/platform/process/patient-database.ts';
import type { Sql } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import type { ClaimBounds, FairClaim } from '#db/queries/deliveries/claim-deliveries.ts';
import type { AllowanceWanted } from '#db/queries/deliveries/delivery-allowances.ts';
import { PLANS, type PlanName } from '#domain/organizations/plans.ts';

/** Statements that take deliveries under an id, such as those of `db/queries/deliveries/claim-deliveries.ts`. */
export interface ClaimStatements<Row> {
  oldest(claimId: string, bounds: ClaimBounds): Promise<Row[]>;
  fairly(claimId: string, claim: FairClaim): Promise<Row[]>;
  /** Those that an earlier claim stamped with the id. */
  stampedWith(claimId: string): Promise<Row[]>;
  /** An id for a claim at this time, in milliseconds since 1970. */
  newId(nowMs: number): string;
}

export interface Claim<Row> {
  readonly claimId: string;
  readonly claimed: readonly Row[];
  /** There may be more that wait. */
  readonly mayBeMore: boolean;
}

export interface Claims<Row> {
  /** The last claim of the oldest had no room for all that waited. */
  readonly backlog: boolean;
  /** @throws errors of the database; the claim is then repeated by the next one */
  next(bounds: Omit<ClaimBounds, 'everything'>): Promise<Claim<Row>>;
}

/** Deliveries older than two days are looked for this often. */
const EVERYTHING_MS = 30_000;

/** @param excluded organizations to pass over now */
export function deliveryClaims<Row extends { readonly organizationId: string }>(
  statements: ClaimStatements<Row>,
  excluded: () => string[],
): Claims<Row> {
  let backlog = false;
  let lastWasFair = false;
  /** Where the round over the organizations continues. */
  let fairAfter = '';
  /** A claim whose answer was lost. */
  let uncertainId: string | undefined;
  let lookedAtAllMs = 0;

  async function claimFairly(claimId: string, claim: Omit<FairClaim, 'after'>): Promise<Row[]> {
    const began = fairAfter === '';
    let claimed = await statements.fairly(claimId, { ...claim, after: fairAfter });
    // The end of the round: begin again immediately, because organizations before its start may have deliveries.
    if (claimed.length === 0 && !began) claimed = await statements.fairly(claimId, { ...claim, after: '' });
    fairAfter =
      claimed
        .map(({ organizationId }) => organizationId)
        .sort()
        .at(-1) ?? '';
    return claimed;
  }

  async function claim(claimId: string, bounds: ClaimBounds): Promise<Row[]> {
    const skipped = excluded();
    lastWasFair = skipped.length > 0 || (backlog && !lastWasFair);
    if (lastWasFair) return claimFairly(claimId, { ...bounds, excluded: skipped });
    const claimed = await statements.oldest(claimId, bounds);
    backlog = claimed.length === bounds.room;
    return claimed;
  }

  return {
    get backlog() {
      return backlog;
    },
    async next(bounds) {
      const { nowMs, room } = bounds;
      const everything = nowMs - lookedAtAllMs > EVERYTHING_MS;
      if (everything) lookedAtAllMs = nowMs;
      const repeated = uncertainId !== undefined;
      const claimId = uncertainId ?? statements.newId(nowMs);
      uncertainId = claimId;
      const claimed = await (repeated ? statements.stampedWith(claimId) : claim(claimId, { ...bounds, everything }));
      uncertainId = undefined;
      return { claimId, claimed, mayBeMore: claimed.length === room || lastWasFair || repeated };
    },
  };
}

export interface FairShares {
  /** Notes deliveries of an organization that were claimed. @param plan null: the organization is deleted */
  taken(organizationId: string, plan: PlanName | null, count: number): void;
  /** Counts deliveries whose first attempt has ended. */
  done(organizationId: string, count: number): void;
  /** Takes back what was noted by `taken`: it was not committed. */
  returned(organizationId: string, count: number): void;
  /** Organizations to pass over now. */
  excluded(): string[];
  /** Those of the organizations that are to be passed over now. @param inFlightMax their share, instead of that of claims */
  over(organizationIds: readonly string[], inFlightMax: number): string[];
  /** As `over`, of all organizations. */
  allOver(inFlightMax: number): string[];
}

/** Takes portions from the buckets. @returns what is left in each, negative: a debt */
type Lease = (wanted: readonly AllowanceWanted[]) => Promise<ReadonlyMap<string, number>>;

/** Seconds of its rate that are leased at once. */
const PORTION_SECONDS = 0.5;
/** An organization without deliveries is forgotten after this time. */
const FORGET_MS = 10_000;
const LEASE_AGAIN_MS = 500;

interface Share {
  inFlight: number;
  /** Leased and not used; negative: used and not leased. */
  allowance: number;
  /** Infinite without a limit. */
  perSecond: number;
  /** Passed over until then, as its bucket is empty. */
  pausedUntilMs: number;
  usedAtMs: number;
}

/**
 * @param inFlightMax deliveries in flight one organization may have
 * @param now milliseconds of any clock
 */
export function fairShares(inFlightMax: number, lease: Lease, now: () => number = () => performance.now()): FairShares {
  const shares = new Map<string, Share>();
  let leasing = false;
  let leaseAgainAtMs = Number.NEGATIVE_INFINITY;

  async function leaseAll(): Promise<void> {
    if (leasing || now() < leaseAgainAtMs) return;
    const short = [...shares].filter(([, { allowance }]) => allowance < 0);
    if (short.length === 0) return;
    leasing = true;
    const wanted = short.map(([organizationId, { allowance, perSecond }]) => ({
      organizationId,
      perSecond,
      deliveries: Math.ceil(perSecond * PORTION_SECONDS - allowance),
    }));
    try {
      const left = await lease(wanted);
      for (const { organizationId, perSecond, deliveries } of wanted) {
        const share = shares.get(organizationId);
        if (share === undefined) continue;
        share.allowance += deliveries;
        const debt = -(left.get(organizationId) ?? 0);
        if (debt > 0) share.pausedUntilMs = now() + (debt / perSecond) * 1_000;
      }
    } catch {
      // The claims get the same error and report it.
      leaseAgainAtMs = now() + LEASE_AGAIN_MS;
    }
    leasing = false;
  }

  /** Whether it has its share, or its rate does not allow more. */
  const isOver = ({ inFlight, allowance, perSecond, pausedUntilMs }: Share, nowMs: number, max: number): boolean =>
    inFlight >= max || pausedUntilMs > nowMs || allowance < -perSecond * PORTION_SECONDS;

  function over(organizationIds: readonly string[], max: number): string[] {
    const nowMs = now();
    return organizationIds.filter((id) => {
      const share = shares.get(id);
      return share !== undefined && isOver(share, nowMs, max);
    });
  }

  return {
    taken(organizationId, plan, count) {
      const perSecond = (plan === null ? null : PLANS[plan].deliveriesPerSecond) ?? Number.POSITIVE_INFINITY;
      const nowMs = now();
      const share = shares.get(organizationId) ?? {
        inFlight: 0,
        allowance: 0,
        perSecond,
        pausedUntilMs: Number.NEGATIVE_INFINITY,
        usedAtMs: nowMs,
      };
      shares.set(organizationId, share);
      if (share.perSecond !== perSecond) Object.assign(share, { perSecond, allowance: 0, pausedUntilMs: nowMs });
      share.inFlight += count;
      share.usedAtMs = nowMs;
      if (perSecond === Number.POSITIVE_INFINITY) return;
      share.allowance -= count;
      void leaseAll();
    },
    done(organizationId, count) {
      const share = shares.get(organizationId);
      if (share !== undefined) share.inFlight -= count;
    },
    returned(organizationId, count) {
      const share = shares.get(organizationId);
      if (share === undefined) return;
      share.inFlight -= count;
      if (share.perSecond !== Number.POSITIVE_INFINITY) share.allowance += count;
    },
    excluded() {
      const nowMs = now();
      const over: string[] = [];
      for (const [organizationId, share] of shares) {
        if (isOver(share, nowMs, inFlightMax)) over.push(organizationId);
        else if (share.inFlight === 0 && nowMs - share.usedAtMs > FORGET_MS) shares.delete(organizationId);
      }
      void leaseAll();
      return over;
    },
    over,
    allOver: (max) => over([...shares.keys()], max),
  };
}

/** The statements of claims: the same, but the log says when the database goes away and comes back. */
export function reportedSql(sql: Sql, log: Logger): Sql {
  const database = outageLog(log, DATABASE);
  return {
    async query<Row extends object>(text: string, values?: readonly unknown[]) {
      try {
        const rows = await sql.query<Row>(text, values);
        database.recovered();
        return rows;
      } catch (error) {
        if (isInfrastructureError(error)) database.failed(error);
        else log.error({ error: reasonOf(error) }, 'a statement of the dispatcher was refused');
        throw error;
      }
    },
  };
}
