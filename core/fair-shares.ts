/**
 * How much of a dispatcher one organization may hold, and how fast its deliveries may go (fair use). An organization
 * over its share is passed over until it is below again: its deliveries are delayed, never dropped.
 */
import { PLANS, type PlanName } from '../domain/plans.ts';

export interface FairShares {
  /** Notes deliveries of an organization that were claimed. */
  taken(organizationId: string, plan: PlanName, count: number): void;
  /** Notes that so many are through their first attempt. */
  done(organizationId: string, count: number): void;
  /** Organizations to pass over now. */
  excluded(): string[];
}

/** Seconds of its rate that an organization may use at once. */
const BURST_SECONDS = 10;

interface Share {
  inFlight: number;
  /** Deliveries that may still go; negative after a batch that went beyond. Infinite without a limit. */
  tokens: number;
  perSecond: number;
  atMs: number;
}

/** @param inFlightMax deliveries in flight one organization may have */
export function fairShares(inFlightMax: number, now: () => number): FairShares {
  const shares = new Map<string, Share>();

  function refill(share: Share): void {
    const nowMs = now();
    const gained = (share.perSecond * Math.max(0, nowMs - share.atMs)) / 1_000;
    share.tokens = Math.min(share.tokens + gained, share.perSecond * BURST_SECONDS);
    share.atMs = nowMs;
  }

  return {
    taken(organizationId, plan, count) {
      const perSecond = PLANS[plan].deliveriesPerSecond ?? Number.POSITIVE_INFINITY;
      let share = shares.get(organizationId);
      if (share === undefined) {
        share = { inFlight: 0, tokens: perSecond * BURST_SECONDS, perSecond, atMs: now() };
        shares.set(organizationId, share);
      } else if (share.perSecond !== perSecond) {
        share.perSecond = perSecond;
        share.tokens = perSecond * BURST_SECONDS;
      }
      if (perSecond !== Number.POSITIVE_INFINITY) refill(share);
      share.tokens -= count;
      share.inFlight += count;
    },
    done(organizationId, count) {
      const share = shares.get(organizationId);
      if (share !== undefined) share.inFlight -= count;
    },
    excluded() {
      const over: string[] = [];
      for (const [organizationId, share] of shares) {
        if (share.perSecond !== Number.POSITIVE_INFINITY) refill(share);
        if (share.inFlight >= inFlightMax || share.tokens < 0) over.push(organizationId);
        else if (share.inFlight === 0 && share.tokens >= share.perSecond * BURST_SECONDS) shares.delete(organizationId);
      }
      return over;
    },
  };
}
