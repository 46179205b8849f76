/** How many deliveries an endpoint had, by outcome and hour. Read in the index `deliveries_endpoint` alone. */

import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { DeliveryStatus } from '#domain/webhooks/delivery-status.ts';
import { afterLastDelivery } from './list-deliveries.ts';

export type StatusCounts = Readonly<Record<DeliveryStatus, number>>;

export interface HourOfDeliveries {
  /** The full hour, UTC, in which they were made. */
  readonly from: Date;
  readonly counts: StatusCounts;
}

const HOUR_MS = 3_600_000;

/** Ids sort by time: `$4` has the smallest id of each hour but the first. */
const COUNT = /* sql */ `
  select width_bucket(id, $4::text[]) as hour, status, count(*)::int as count
    from deliveries
   where endpoint_id = $1 and id >= $2 and id < $3
     and exists (select from webhook_endpoints where id = $1 and organization_id = $5)
   group by hour, status`;

/**
 * The hours until now, oldest first, empty ones included. The newest has just begun.
 *
 * @param hours 1 or more
 */
export async function countByHour(
  sql: Sql,
  { organizationId, endpointId }: { readonly organizationId: string; readonly endpointId: string },
  hours: number,
  nowMs: number,
): Promise<HourOfDeliveries[]> {
  const firstMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS - (hours - 1) * HOUR_MS;
  const starts = Array.from({ length: hours }, (_, hour) => firstMs + hour * HOUR_MS);
  const rows = await sql.query<{ hour: number; status: DeliveryStatus; count: number }>(COUNT, [
    endpointId,
    firstIdAt('delivery', firstMs),
    afterLastDelivery(nowMs),
    starts.slice(1).map((startMs) => firstIdAt('delivery', startMs)),
    organizationId,
  ]);
  const counts = starts.map(() => ({ pending: 0, success: 0, failed: 0, exhausted: 0 }));
  for (const { hour, status, count } of rows) {
    const counted = counts[hour];
    if (counted !== undefined) counted[status] += count;
  }
  return starts.map((startMs, hour) => ({
    from: new Date(startMs),
    counts: counts[hour] ?? { pending: 0, success: 0, failed: 0, exhausted: 0 },
  }));
}
