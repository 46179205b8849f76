/**
 * Workflows whose deliveries are long overdue: the engine may have lost them.
 *
 * Replicas share a round of the sweep. Each takes the next portion under the lock of the sweep's row, and starts its
 * workflows after it; the next round finds a portion again if its process died.
 */

import type { Database, Sql } from '#db/database.ts';
import type { DescribedDelivery } from '#domain/webhooks/delivery-summary.ts';

/** Deliveries of one workflow that should have moved on long ago. */
export interface OverdueWorkflow {
  readonly workflowId: string;
  /** All its deliveries that are not final, overdue or not, with their due times: they share one workflow. */
  readonly deliveries: readonly (DescribedDelivery & { readonly dueAtMs: number })[];
}

/** Both steps go by the index `deliveries_held`. */
const OVERDUE = /* sql */ `
  with overdue as (
    select workflow_id collate "C" as workflow_id from deliveries
     where status in ('pending', 'failed') and fan_out_id is not null
       and coalesce(next_attempt_at, created_at) < $1 and workflow_id collate "C" > $2
     group by workflow_id collate "C" order by workflow_id collate "C" limit $3::int
  )
  select o.workflow_id as "workflowId", unfinished.deliveries
    from overdue o
   cross join lateral (
     select json_agg(json_build_object('id', d.id, 'endpointId', d.endpoint_id, 'eventId', d.event_id,
              'organizationId', d.organization_id, 'mailboxId', d.mailbox_id, 'eventType', d.event_type,
              'dueAtMs', (extract(epoch from coalesce(d.next_attempt_at, d.created_at)) * 1000)::bigint)
              order by d.id) as deliveries
       from deliveries d
      where d.status in ('pending', 'failed') and d.fan_out_id is not null
        and d.workflow_id collate "C" = o.workflow_id
   ) unfinished
   where unfinished.deliveries is not null
   order by o.workflow_id`;

/**
 * Workflows with deliveries overdue since `before`.
 *
 * @param after in the order of their ids, those after this one; '' starts again
 */
export function overdueWorkflows(sql: Sql, before: Date, after: string, limit: number): Promise<OverdueWorkflow[]> {
  return sql.query<OverdueWorkflow>(OVERDUE, [before, after, limit]);
}

const LOCK_SWEEP = /* sql */ `
  select position from sweeps where name = 'deliveries' and next_at <= now() for update skip locked`;

const MOVE_SWEEP = /* sql */ `
  update sweeps set position = $1, next_at = now() + make_interval(secs => $2::float8 / 1000) where name = 'deliveries'`;

export interface SweepPace {
  /** Workflows of a portion. */
  readonly limit: number;
  /** Time from one portion of a round to the next, by whatever replica. */
  readonly portionMs: number;
  /** From the end of a round to the next one. */
  readonly roundMs: number;
}

/**
 * Takes the next portion of the round that all replicas share.
 *
 * @returns undefined when it is not yet time, or another replica is taking one
 */
export function takeOverdueWorkflows(
  db: Database,
  before: Date,
  { limit, portionMs, roundMs }: SweepPace,
): Promise<OverdueWorkflow[] | undefined> {
  return db.transaction(async (sql) => {
    const [turn] = await sql.query<{ position: string }>(LOCK_SWEEP);
    if (turn === undefined) return undefined;
    const overdue = await overdueWorkflows(sql, before, turn.position, limit);
    const last = overdue.length < limit ? undefined : overdue.at(-1);
    await sql.query(MOVE_SWEEP, [last?.workflowId ?? '', last === undefined ? roundMs : portionMs]);
    return overdue;
  });
}

/** Claims the sweep of a newly started replica. @returns whether it was free */
export async function takeFirstSweep(sql: Sql, againMs: number): Promise<boolean> {
  const rows = await sql.query(
    `insert into sweeps (name, next_at) values ('deliveries at start', now() + make_interval(secs => $1::float8 / 1000))
     on conflict (name) do update set next_at = excluded.next_at where sweeps.next_at <= now() returning 1`,
    [againMs],
  );
  return rows.length > 0;
}
