import type { Sql } from '#db/database.ts';
import { DELIVERY_BURST_SECONDS } from '#domain/webhooks/delivery-limits.ts';

/** A dispatcher's lease from an organization's delivery rate. */
export interface AllowanceWanted {
  readonly organizationId: string;
  /** The rate of its plan. */
  readonly perSecond: number;
  readonly deliveries: number;
}

/** In the order of ids, so that two dispatchers never wait for each other in a circle. */
const LEASE = /* sql */ `
  with wanted as (
    select w.id, w.per_second, w.deliveries, w.per_second * ${DELIVERY_BURST_SECONDS} as capacity
      from unnest($1::text[], $2::float8[], $3::float8[]) w(id, per_second, deliveries)
      join organizations o on o.id = w.id
  )
  insert into delivery_allowances as a (organization_id, tokens, refilled_at)
  select id, capacity - deliveries, clock_timestamp() from wanted order by id
      on conflict (organization_id) do update
     set refilled_at = clock_timestamp(),
         tokens = (
           select least(w.capacity, a.tokens
                    + w.per_second * greatest(0, extract(epoch from clock_timestamp() - a.refilled_at)::float8))
                  - w.deliveries
             from wanted w where w.id = a.organization_id)
  returning organization_id as "organizationId", tokens`;

/**
 * Takes portions out of the token buckets of organizations, which all dispatchers share. A bucket may become negative:
 * its organization must then be skipped until the bucket is back at zero.
 *
 * @returns the tokens left, by organization; a deleted one has none and no limit
 */
export async function leaseAllowances(
  sql: Sql,
  wanted: readonly AllowanceWanted[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.query<{ organizationId: string; tokens: number }>(LEASE, [
    wanted.map(({ organizationId }) => organizationId),
    wanted.map(({ perSecond }) => perSecond),
    wanted.map(({ deliveries }) => deliveries),
  ]);
  return new Map(rows.map(({ organizationId, tokens }) => [organizationId, tokens]));
}
