/**
 * Direct leases: the statement that records a delivery gives it to a fast lane, of the same process or another one, with the number of
 * its first attempt and the fan-out that carries it. So nothing needs to claim the row afterwards.
 *
 *   lane.open ──▶ insert with the lease ──▶ commit ──▶ ended('committed'): the lane makes the attempts, from memory,
 *                                             │                        or another process is told
 *                                             ├─▶ rollback ──▶ ended('rolled back'): there are no rows
 *                                             └─▶ no answer ─▶ ended('unknown'): the lane reads whether there are rows
 */
import type { TransactionEnd } from './transaction-connection.ts';

/** A lane that takes deliveries at once. */
export interface LeasingLane {
  /**
   * Call it just before the statement. Every lease that is opened must end.
   *
   * @returns undefined: it takes nothing now, and the deliveries are claimed later
   */
  open(organizationIds: readonly string[]): DirectLease | undefined;
}

export interface DirectLease {
  /** Id of the lane. */
  readonly lane: string;
  readonly reservation: string;
  /** Null: a dispatcher chooses one later. */
  readonly fanOutId: string | null;
  /** Endpoints and organizations whose deliveries the lane leaves to a claim. */
  readonly passedOver: { readonly endpointIds: readonly string[]; readonly organizationIds: readonly string[] };
  /**
   * What the statement has written.
   *
   * @param leased rows of the kind that a lane claims (`queries/deliveries/claim-deliveries.ts`)
   * @param untaken endpoints of deliveries that wait for a claim
   */
  wrote(leased: readonly { readonly id: string; readonly organizationId: string }[], untaken: readonly string[]): void;
  ended(end: TransactionEnd): void;
}

/** The first lane that takes deliveries of these organizations now. */
export function openDirectLease(
  lanes: Iterable<LeasingLane>,
  organizationIds: readonly string[],
): DirectLease | undefined {
  for (const lane of lanes) {
    const lease = lane.open(organizationIds);
    if (lease !== undefined) return lease;
  }
  return undefined;
}
