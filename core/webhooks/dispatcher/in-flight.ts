/** Counts the deliveries that this process has claimed, until their first attempts are through or handed on. */
import type { Logger } from '#core/platform/log/logger.ts';
import { inFlightDeliveries } from '#core/platform/log/metrics.ts';
import type { ClaimedDelivery } from '#db/queries/deliveries/claim-deliveries.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import type { DispatcherState } from './dispatcher-state.ts';
import type { FairShares } from './fair-shares.ts';

export const IN_FLIGHT_MAX = 4_000;
/** Part of it that one organization may have. */
export const ORGANIZATION_SHARE = 0.5;

/**
 * Counts deliveries while `run` handles them, except those whose first attempts a fast lane makes and counts. Never
 * rejects: what failed is started by the sweep.
 */
export type CountInFlight = (claimed: readonly ClaimedDelivery[], run: () => Promise<void>) => Promise<void>;

export function countInFlight(state: DispatcherState, shares: FairShares, log: Logger): CountInFlight {
  const add = (count: number) => {
    state.inFlight += count;
    inFlightDeliveries.set(state.inFlight);
  };
  return (all, run) => {
    const claimed = all.filter(({ inLane }) => !inLane);
    add(claimed.length);
    const counts = new Map<string, number>();
    const plans = new Map<string, PlanName | null>();
    for (const { organizationId, plan } of claimed) {
      counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1);
      plans.set(organizationId, plan);
    }
    for (const [id, plan] of plans) shares.taken(id, plan, counts.get(id) ?? 0);
    return run()
      .catch((error: unknown) =>
        log.error(
          { error: error instanceof Error ? error.message : String(error) },
          'claimed deliveries were not started; the sweep will start them',
        ),
      )
      .finally(() => {
        add(-claimed.length);
        for (const [id, count] of counts) shares.done(id, count);
      });
  };
}
