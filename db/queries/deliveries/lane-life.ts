/**
 * Signs of life of lanes. A lane is dead if it has shown none for some seconds while another lane has, without a gap.
 * Age alone is no evidence: after an outage of the database all signs are old. Lanes would then send again what others
 * have sent and not been able to record.
 * If the clock of the database was set back, or another server's is behind after a failover, all counting begins anew:
 * signs from the future prove nothing.
 */
import type { Sql } from '#db/database.ts';
import { LANE_GAP_MS, LANE_VALID_MS } from '#domain/webhooks/delivery-limits.ts';

/** Value of `deliveries.lease`: no lane has the delivery, and none will take it. */
export const NO_LANE = /* sql */ `'00000000-0000-0000-0000-000000000000'::uuid`;

/** Whether the leases of a row of `delivery_lanes` have ended. @param lane alias of the row */
export const laneIsDead = (lane: string): string => /* sql */ `(${lane}.ended_at is not null or exists (
  select from delivery_lanes witness
   where witness.seen_at <= now()
     and witness.seen_at - greatest(witness.unbroken_since, ${lane}.seen_at) >= interval '${LANE_VALID_MS} milliseconds'))`;

/** Dead lanes are forgotten after this time. Others never: what they have sent may wait for the end of an outage. */
const FORGOTTEN_AFTER = /* sql */ `interval '1 hour'`;

const SHOW_LIFE = /* sql */ `
  with forgotten as (
    delete from delivery_lanes other
     where other.seen_at < now() - ${FORGOTTEN_AFTER} and other.id <> $1 and ${laneIsDead('other')}
  )
  insert into delivery_lanes as lane (id, seen_at, unbroken_since, offer) values ($1, now(), now(), $2)
      on conflict (id) do update
     set seen_at = excluded.seen_at, offer = excluded.offer,
         unbroken_since = case when excluded.seen_at - lane.seen_at between interval '0' and interval '${LANE_GAP_MS} milliseconds'
                               then lane.unbroken_since else excluded.seen_at end`;

/** What a lane takes from other processes, until it says something else. */
export interface LaneOffer {
  /** Deliveries at most. */
  readonly room: number;
  /** The fan-out that is to carry them; null: a dispatcher chooses one. */
  readonly fanOutId: string | null;
  /** What it leaves to a claim. */
  readonly passedOver: { readonly endpointIds: readonly string[]; readonly organizationIds: readonly string[] };
}

/** Shows that a lane is alive, by the clock of the database. @param offer undefined: it takes nothing from others */
export async function showLife(sql: Sql, lane: string, offer?: LaneOffer): Promise<void> {
  await sql.query(SHOW_LIFE, [lane, offer === undefined ? null : JSON.stringify(offer)]);
}

/**
 * Ends a lane: its leases are free at once. The row stays for an hour, so that what another process was leasing to it at
 * that moment is found.
 */
export async function endLane(sql: Sql, lane: string): Promise<void> {
  await sql.query(`update delivery_lanes set ended_at = now(), offer = null where id = $1`, [lane]);
}

/** A sign that is older than this, in milliseconds, says nothing about a lane that others could lease to. */
const OFFER_VALID_MS = 1_500;

export interface OfferingLane {
  readonly id: string;
  readonly offer: LaneOffer;
}

/** Lanes of any process that take deliveries of others. Lanes of an older version offer nothing. */
export const offeringLanes = (sql: Sql): Promise<OfferingLane[]> =>
  sql.query<OfferingLane>(
    `select id, offer from delivery_lanes
      where offer is not null and ended_at is null
        and seen_at between now() - interval '${OFFER_VALID_MS} milliseconds' and now()
      order by id`,
  );

/** Whether a lane shows signs of life. */
export async function lanesAreAlive(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ alive: boolean }>(
    `select exists (
       select from delivery_lanes where ended_at is null and seen_at between now() - interval '${LANE_VALID_MS} milliseconds' and now()
     ) as alive`,
  );
  return row?.alive === true;
}
