/**
 * The statements of a fast lane: first attempts by a worker, without a workflow. Deliveries are claimed and reserved in
 * one statement; the lease in the row names the lane, and is valid while the lane lives (`lane-life.ts`).
 */
import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import { PLANS_WITH_WEBHOOKS, type PlanName } from '#domain/organizations/plans.ts';
import { RESERVE_COLUMNS, type ReservedAttempt } from './attempts.ts';
import {
  boundValues,
  type ClaimBounds,
  FAIRLY_UNTAKEN,
  type FairClaim,
  fairValues,
  firstClaimed,
  OLDEST_UNTAKEN,
} from './claim-deliveries.ts';
import { laneIsDead, NO_LANE } from './lane-life.ts';

/** A delivery that a lane has checked. */
export interface LaneDelivery extends ReservedAttempt {
  readonly organizationId: string;
  /** Null: the organization is deleted. */
  readonly plan: PlanName | null;
  /** False: passed on, a workflow makes the first attempt or ends the delivery. Then the other fields may be null. */
  readonly leased: boolean;
}

/** Whether a lane may make the first attempt: slow endpoints, inactive ones and lost plans are left to a workflow. */
const sendable = (plans: string): string => /* sql */ `
  coalesce(d.status = 'pending' and d.next_attempt_at is null and d.attempt_count < d.max_attempts
           and e.active and e.deleted_at is null and o.plan = any(${plans}) and v.id is not null
           and coalesce(e.troubled_until <= now(), true), false)`;

/**
 * Endpoint, organization and event of those that are due. Lateral joins with `offset 0` go by primary keys, whatever
 * the planner thinks of the number of rows.
 */
const JOINED = /* sql */ `
  left join lateral (select * from webhook_endpoints where id = due.endpoint_id offset 0) e on true
  left join lateral (select id, plan from organizations where id = due.organization_id offset 0) o on true
  left join lateral (select id, payload, extracts from events where id = due.event_id offset 0) v on true`;

const LANE_COLUMNS = /* sql */ `
  ${RESERVE_COLUMNS}, d.organization_id as "organizationId", o.plan, d.lease <> ${NO_LANE} as leased`;

/** `$1`: the reservation. */
const lease = (lane: string, plans: string): string => /* sql */ `
  update deliveries d
     set lease = case when ${sendable(plans)} then ${lane}::uuid else ${NO_LANE} end,
         reservation = case when ${sendable(plans)} then $1::uuid else d.reservation end,
         attempt_count = d.attempt_count + case when ${sendable(plans)} then 1 else 0 end
    from due ${JOINED}
   where d.id = due.id and d.id >= $3
  returning ${LANE_COLUMNS}`;

const LEASE = /* sql */ `with ${OLDEST_UNTAKEN} ${lease('$5', '$6')}`;
const LEASE_FAIRLY = /* sql */ `with recursive ${FAIRLY_UNTAKEN} ${lease('$8', '$9')}`;

/** Takes the oldest deliveries that nobody has taken, and reserves their first attempts under the reservation. */
export const leaseOldest = (
  sql: Sql,
  lane: string,
  reservation: string,
  bounds: ClaimBounds,
): Promise<LaneDelivery[]> =>
  sql.query<LaneDelivery>(LEASE, [reservation, ...boundValues(bounds), lane, PLANS_WITH_WEBHOOKS]);

/** As `leaseOldest`, in equal parts of many organizations. */
export const leaseFairly = (sql: Sql, lane: string, reservation: string, claim: FairClaim): Promise<LaneDelivery[]> =>
  sql.query<LaneDelivery>(LEASE_FAIRLY, [reservation, ...fairValues(claim), lane, PLANS_WITH_WEBHOOKS]);

/** By the index `deliveries_leased`. The workflow that carries them, if one does, waits for the new lane. */
const LEASE_LEFT_BEHIND = /* sql */ `
  with dead as (
    select lane.id from delivery_lanes lane where ${laneIsDead('lane')}
  ),
  due as (
    select left_behind.* from dead
     cross join lateral (
       select id, endpoint_id, organization_id, event_id from deliveries
        where status = 'pending' and lease > ${NO_LANE} and lease = dead.id and id >= $3
        limit $2
          for update skip locked
     ) left_behind
     limit $2
  )
  ${lease('$4', '$5')}`;

/** Takes over the first attempts of dead lanes, under new numbers. */
export const leaseLeftBehind = (
  sql: Sql,
  lane: string,
  reservation: string,
  { room, nowMs, everything }: ClaimBounds,
): Promise<LaneDelivery[]> =>
  sql.query<LaneDelivery>(LEASE_LEFT_BEHIND, [
    reservation,
    room,
    firstClaimed(nowMs, everything),
    lane,
    PLANS_WITH_WEBHOOKS,
  ]);

const LEASED_UNDER = /* sql */ `
  select ${LANE_COLUMNS}
    from (select id, endpoint_id, organization_id, event_id from deliveries
           where lease = $1::uuid and reservation = $2::uuid and status = 'pending' and id >= $3) due
    join deliveries d on d.id = due.id
    ${JOINED}
   where e.active and e.deleted_at is null and o.plan = any($4)`;

/** How long after a claim its answer can still be asked for. */
const ANSWER_LOST_WITHIN_MS = 3_600_000;

/**
 * What a lane took under a reservation, and may still send: the answer to the claim may have been lost after its commit,
 * some time ago. The rest is left to workflows, which find that the lane does not know it.
 */
export const leasedUnder = (sql: Sql, lane: string, reservation: string, nowMs: number): Promise<LaneDelivery[]> =>
  sql.query<LaneDelivery>(LEASED_UNDER, [
    lane,
    reservation,
    firstIdAt('delivery', nowMs - ANSWER_LOST_WITHIN_MS),
    PLANS_WITH_WEBHOOKS,
  ]);

/** Leaves deliveries to their workflow. The numbers of their attempts stay used. */
export async function endLeases(sql: Sql, lane: string, ids: readonly string[]): Promise<void> {
  const sorted = ids.toSorted();
  await sql.query(
    `update deliveries set lease = ${NO_LANE} where id = any($1) and id >= $2 and id <= $3 and lease = $4::uuid`,
    [ids, sorted[0] ?? '', sorted.at(-1) ?? '', lane],
  );
}
