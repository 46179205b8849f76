/**
 * How much of a dispatcher one organization may use, and how fast its deliveries may be sent (fair use). An
 * organization over its share is skipped until it is below again: its deliveries are delayed, never dropped.
 *
 * The rate applies to all dispatchers together. Each leases portions of half a second's deliveries from the
 * organization's token bucket in PostgreSQL, so an organization costs two writes a second at most. Claims do not wait
 * for a lease: deliveries beyond it are a debt in the bucket, and all dispatchers then skip the organization.
 */
import type { AllowanceWanted } from '#db/queries/deliveries/delivery-allowances.ts';
import { PLANS, type PlanName } from '#domain/organizations/plans.ts';

export interface FairShares {
  /** Notes deliveries of an organization that were claimed. @param plan null: the organization is deleted */
  taken(organizationId: string, plan: PlanName | null, count: number): void;
  /** Counts deliveries whose first attempt has ended. */
  done(organizationId: string, count: number): void;
  /** Organizations to pass over now. */
  excluded(): string[];
}

/** Takes portions from the buckets. @returns what is left in each, negative: a debt */
export type Lease = (wanted: readonly AllowanceWanted[]) => Promise<ReadonlyMap<string, number>>;

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
export function fairShares(inFlightMax: number, lease: Lease, now: () => number): FairShares {
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
    excluded() {
      const nowMs = now();
      const over: string[] = [];
      for (const [organizationId, share] of shares) {
        const { inFlight, allowance, perSecond, pausedUntilMs, usedAtMs } = share;
        const overdrawn = allowance < -perSecond * PORTION_SECONDS;
        if (inFlight >= inFlightMax || pausedUntilMs > nowMs || overdrawn) over.push(organizationId);
        else if (inFlight === 0 && nowMs - usedAtMs > FORGET_MS) shares.delete(organizationId);
      }
      void leaseAll();
      return over;
    },
  };
}
