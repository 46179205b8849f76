/**
 * The statements that take due deliveries, each row by one process.
 *
 *   untaken ──by a dispatcher──▶ stamped with the id of a fan-out
 *      └──by a fast lane──▶ leased, and its first attempt reserved ──▶ stamped later, by a dispatcher
 *                └─▶ slow, inactive: passed on, no lane takes it any more
 *
 * The oldest are taken, or equal parts of many organizations. A fast lane makes first attempts in a worker, without a
 * workflow: the lease in the row names it, and is valid while it shows signs of life (`lane-life.ts`).
 */
import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import { PLANS_WITH_WEBHOOKS, type PlanName } from '#domain/organizations/plans.ts';
import type { DescribedDelivery } from '#domain/webhooks/delivery-status.ts';
import { PLAN_NOW, RESERVE_COLUMNS, type ReservedAttempt } from './attempts.ts';
import { laneIsDead, NO_LANE } from './lane-life.ts';

/** A delivery claimed for a fan-out. */
export interface ClaimedDelivery extends DescribedDelivery {
  /** Null: the organization is deleted. The attempt will say so; here it must not keep others from being claimed. */
  readonly plan: PlanName | null;
  /** The endpoint was recently slow. Null: it was deleted. */
  readonly troubled: boolean | null;
  /** Its first attempt is made by a fast lane, or was: the workflow waits for it and continues. */
  readonly inLane: boolean;
}

const CLAIMED_COLUMNS = /* sql */ `
  d.id, d.endpoint_id as "endpointId", d.event_id as "eventId", d.organization_id as "organizationId",
  d.mailbox_id as "mailboxId", d.event_type as "eventType",
  (select o.plan from organizations o where o.id = d.organization_id) as plan,
  (select coalesce(e.troubled_until > now(), false) from webhook_endpoints e where e.id = d.endpoint_id) as troubled,
  d.lease is not null and (d.lease <> ${NO_LANE} or d.status <> 'pending') as "inLane"`;

const CLAIMED = /* sql */ `
  update deliveries d set fan_out_id = $1, workflow_id = $1
    from due where d.id = due.id and d.id >= $3
  returning ${CLAIMED_COLUMNS}`;

/** The oldest that nobody has taken. `$2`: how many; `$3`, `$4`: the range of ids. */
const OLDEST_UNTAKEN = /* sql */ `
  due as (
    select id, endpoint_id, organization_id, event_id from deliveries
     where fan_out_id is null and lease is null and id >= $3 and id < $4
     order by id
     limit $2
       for update skip locked
  )`;

const CLAIM = /* sql */ `with ${OLDEST_UNTAKEN} ${CLAIMED}`;

const RECENT_MS = 2 * 86_400_000;

/** The first id that a claim looks at. */
const firstClaimed = (nowMs: number, everything: boolean): string =>
  everything ? '' : firstIdAt('delivery', nowMs - RECENT_MS);

/** Above every id. */
const LAST_ID = '~';

/** Which deliveries a claim takes. */
export interface ClaimBounds {
  /** Deliveries at most. */
  readonly room: number;
  readonly nowMs: number;
  /** Also those older than two days; otherwise only the newest partitions are searched. */
  readonly everything: boolean;
  /** Only those made before this time, in milliseconds since 1970. */
  readonly madeBeforeMs?: number | undefined;
}

/** Values of `$2` to `$4`. */
const boundValues = ({ room, nowMs, everything, madeBeforeMs }: ClaimBounds): [number, string, string] => [
  room,
  firstClaimed(nowMs, everything),
  madeBeforeMs === undefined ? LAST_ID : firstIdAt('delivery', madeBeforeMs),
];

/**
 * Stamps deliveries that nobody has taken with the id of their fan-out. Several dispatchers may claim concurrently:
 * each row is claimed by one of them.
 */
export const claimDeliveries = (sql: Sql, fanOutId: string, bounds: ClaimBounds): Promise<ClaimedDelivery[]> =>
  sql.query<ClaimedDelivery>(CLAIM, [fanOutId, ...boundValues(bounds)]);

const CARRY = /* sql */ `
  with due as (
    select id from deliveries
     where fan_out_id is null and lease is not null and id >= $3
     order by id
     limit $2
       for update skip locked
  )
  ${CLAIMED}`;

/** As `claimDeliveries`, for those that a fast lane has taken or passed on, whatever has become of them. */
export const claimTaken = (
  sql: Sql,
  fanOutId: string,
  { room, nowMs, everything }: ClaimBounds,
): Promise<ClaimedDelivery[]> => sql.query<ClaimedDelivery>(CARRY, [fanOutId, room, firstClaimed(nowMs, everything)]);

/**
 * Steps from organization to organization by the index, whatever the backlog of each. Each contributes an equal part of
 * the batch: with a fixed small number, the backlog of one organization would be split into many small fan-outs.
 */
const FAIRLY_UNTAKEN = /* sql */ `
  organizations_waiting as (
    (select organization_id, 1 as place from deliveries
      where fan_out_id is null and lease is null and id >= $3 and id < $4 and organization_id > $5 order by organization_id limit 1)
    union all
    select (select d.organization_id from deliveries d
             where d.fan_out_id is null and d.lease is null and d.id >= $3 and d.id < $4
               and d.organization_id > w.organization_id
             order by d.organization_id limit 1), w.place + 1
      from organizations_waiting w
     where w.organization_id is not null and w.place < $6::int
  ),
  served as (
    select organization_id from organizations_waiting
     where organization_id is not null and organization_id <> all($7::text[])
  ),
  due as (
    select oldest.* from served w
     cross join lateral (
       select id, endpoint_id, organization_id, event_id from deliveries d
        where d.fan_out_id is null and d.lease is null and d.id >= $3 and d.id < $4 and d.organization_id = w.organization_id
        order by id limit greatest(1, $2::int / (select greatest(1, count(*)) from served)) for update skip locked
     ) oldest
     limit $2::int
  )`;

const CLAIM_FAIRLY = /* sql */ `with recursive ${FAIRLY_UNTAKEN} ${CLAIMED}`;

/** Maximum organizations of one fair claim. */
const FAIR_CLAIM_ORGANIZATIONS = 50;

export interface FairClaim extends ClaimBounds {
  /** Continues with organizations with ids above this; '' starts again. */
  readonly after: string;
  /** Organizations that have had their share. */
  readonly excluded: readonly string[];
}

/** Values of `$2` to `$7`. */
const fairValues = (claim: FairClaim): [number, string, string, string, number, readonly string[]] => [
  ...boundValues(claim),
  claim.after,
  FAIR_CLAIM_ORGANIZATIONS + claim.excluded.length,
  claim.excluded,
];

/**
 * As `claimDeliveries`, but the oldest of many organizations in equal parts, so that one organization's backlog does
 * not delay the others.
 */
export const claimFairly = (sql: Sql, fanOutId: string, claim: FairClaim): Promise<ClaimedDelivery[]> =>
  sql.query<ClaimedDelivery>(CLAIM_FAIRLY, [fanOutId, ...fairValues(claim)]);

const CLAIMED_BY = /* sql */ `
  select ${CLAIMED_COLUMNS} from deliveries d
   where d.workflow_id collate "C" = $1 and d.fan_out_id = $1 and d.status in ('pending', 'failed')`;

/** The deliveries claimed for a fan-out: the answer to the claim may have been lost after its commit. */
export const claimedBy = (sql: Sql, fanOutId: string): Promise<ClaimedDelivery[]> =>
  sql.query<ClaimedDelivery>(CLAIMED_BY, [fanOutId]);

/** A delivery that a lane has checked. */
export interface LaneDelivery extends ReservedAttempt {
  readonly organizationId: string;
  readonly mailboxId: string | null;
  /** The fan-out that carries it; null: a dispatcher chooses one later. */
  readonly fanOutId: string | null;
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
  left join lateral (select id, ${PLAN_NOW} as plan from organizations where id = due.organization_id offset 0) o on true
  left join lateral (select id, payload, extracts from events where id = due.event_id offset 0) v on true`;

const LANE_COLUMNS = /* sql */ `
  ${RESERVE_COLUMNS}, d.organization_id as "organizationId", d.mailbox_id as "mailboxId", d.fan_out_id as "fanOutId",
  o.plan, d.lease <> ${NO_LANE} as leased`;

/** `$1`: the reservation. @param fanOutId null: a dispatcher stamps the rows later */
const lease = (lane: string, plans: string, fanOutId: string): string => /* sql */ `
  update deliveries d
     set lease = case when ${sendable(plans)} then ${lane}::uuid else ${NO_LANE} end,
         reservation = case when ${sendable(plans)} then $1::uuid else d.reservation end,
         attempt_count = d.attempt_count + case when ${sendable(plans)} then 1 else 0 end,
         fan_out_id = coalesce(d.fan_out_id, case when ${sendable(plans)} then ${fanOutId}::text end),
         workflow_id = coalesce(d.workflow_id, case when ${sendable(plans)} then ${fanOutId}::text end)
    from due ${JOINED}
   where d.id = due.id and d.id >= $3
  returning ${LANE_COLUMNS}`;

const LEASE = /* sql */ `with ${OLDEST_UNTAKEN} ${lease('$5', '$6', '$7')}`;
const LEASE_FAIRLY = /* sql */ `with recursive ${FAIRLY_UNTAKEN} ${lease('$8', '$9', '$10')}`;

/** What a lane writes into the rows it takes. */
export interface Leasing {
  readonly lane: string;
  readonly reservation: string;
  /** The fan-out that carries them; null: a dispatcher chooses one later. Rows that have one keep it. */
  readonly fanOutId: string | null;
}

const leaseValues = ({ lane, fanOutId }: Leasing): [string, readonly PlanName[], string | null] => [
  lane,
  PLANS_WITH_WEBHOOKS,
  fanOutId,
];

/** Takes the oldest deliveries that nobody has taken, and reserves their first attempts under the reservation. */
export const leaseOldest = (sql: Sql, leasing: Leasing, bounds: ClaimBounds): Promise<LaneDelivery[]> =>
  sql.query<LaneDelivery>(LEASE, [leasing.reservation, ...boundValues(bounds), ...leaseValues(leasing)]);

/** As `leaseOldest`, in equal parts of many organizations. */
export const leaseFairly = (sql: Sql, leasing: Leasing, claim: FairClaim): Promise<LaneDelivery[]> =>
  sql.query<LaneDelivery>(LEASE_FAIRLY, [leasing.reservation, ...fairValues(claim), ...leaseValues(leasing)]);

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
  ${lease('$4', '$5', '$6')}`;

/** Takes over the first attempts of dead lanes, under new numbers. */
export const leaseLeftBehind = (
  sql: Sql,
  leasing: Leasing,
  { room, nowMs, everything }: ClaimBounds,
): Promise<LaneDelivery[]> =>
  sql.query<LaneDelivery>(LEASE_LEFT_BEHIND, [
    leasing.reservation,
    room,
    firstClaimed(nowMs, everything),
    ...leaseValues(leasing),
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

/** A delivery, and the reservation under which a lane has it. */
export interface LeasedDelivery {
  readonly id: string;
  readonly reservation: string;
}

/** What a lane has under way, according to the rows. By the index `deliveries_leased`. */
export const leasedTo = (sql: Sql, lane: string, nowMs: number): Promise<LeasedDelivery[]> =>
  sql.query<LeasedDelivery>(
    `select id, reservation from deliveries
      where status = 'pending' and lease > ${NO_LANE} and lease = $1::uuid and reservation is not null and id >= $2
      order by id`,
    [lane, firstIdAt('delivery', nowMs - ANSWER_LOST_WITHIN_MS)],
  );

const STILL_LEASED = /* sql */ `
  select ${RESERVE_COLUMNS}, d.organization_id as "organizationId", d.mailbox_id as "mailboxId",
         d.fan_out_id as "fanOutId", o.plan,
         coalesce(e.active and e.deleted_at is null and o.plan = any($6) and v.id is not null
                  and coalesce(e.troubled_until <= now(), true), false) as leased
    from (select t.reservation, d.id, d.endpoint_id, d.organization_id, d.event_id
            from unnest($2::text[], $3::uuid[]) as t(id, reservation) join deliveries d on d.id = t.id
           where d.id = any($2) and d.id >= $4 and d.id <= $5
             and d.lease = $1::uuid and d.reservation = t.reservation and d.status = 'pending' offset 0) due
    join deliveries d on d.id = due.id and d.id >= $4 and d.id <= $5
    ${JOINED}`;

/**
 * Those that the lane still has under these reservations, read as a claim would. `leased` is false where a workflow is to
 * end the delivery, or to make the attempt.
 */
export async function stillLeased(
  sql: Sql,
  lane: string,
  said: readonly LeasedDelivery[],
): Promise<readonly LaneDelivery[]> {
  const ids = said.map(({ id }) => id);
  const sorted = ids.toSorted();
  return sql.query<LaneDelivery>(STILL_LEASED, [
    lane,
    ids,
    said.map(({ reservation }) => reservation),
    sorted[0] ?? '',
    sorted.at(-1) ?? '',
    PLANS_WITH_WEBHOOKS,
  ]);
}

/** Leaves deliveries to their workflow. The numbers of their attempts stay used. */
export async function endLeases(sql: Sql, lane: string, ids: readonly string[]): Promise<void> {
  const sorted = ids.toSorted();
  await sql.query(
    `update deliveries set lease = ${NO_LANE} where id = any($1) and id >= $2 and id <= $3 and lease = $4::uuid`,
    [ids, sorted[0] ?? '', sorted.at(-1) ?? '', lane],
  );
}
