/**
 * Which workflow carries a delivery: it is recorded in the delivery's row, is signalled when an endpoint stops, and is
 * started again when its deliveries are long overdue, because the engine may have lost it.
 *
 * Replicas share a round of this sweep. Each takes the next portion under the lock of the sweep's row, and starts its
 * workflows after it; the next round finds a portion again if its process died.
 */
import type { Database, Sql } from '#db/database.ts';
import type { DescribedDelivery } from '#domain/webhooks/delivery-status.ts';
import type { StopTarget } from '#domain/webhooks/delivery-workflows.ts';

/** Records which workflow processes a delivery from now on. */
export async function assignWorkflow(sql: Sql, deliveryId: string, workflowId: string): Promise<void> {
  await sql.query(`update deliveries set workflow_id = $2 where id = $1`, [deliveryId, workflowId]);
}

/** Makes a delivery that waits for a retry due at once, for the workflow that will process it. */
export async function makeDueNow(sql: Sql, deliveryId: string, now: Date): Promise<void> {
  await sql.query(`update deliveries set next_attempt_at = $2 where id = $1 and status = 'failed'`, [deliveryId, now]);
}

/** A delivery, and the id of the workflow that processes it from now on. */
export interface AssignedDelivery {
  readonly id: string;
  readonly workflowId: string;
}

const ASSIGN_CLAIMED = /* sql */ `
  update deliveries d set workflow_id = assigned.workflow_id
    from unnest($1::text[], $2::text[]) as assigned(id, workflow_id)
   where d.id = assigned.id and d.id = any($1) and d.id >= $3 and d.id <= $4
     and d.workflow_id in (d.fan_out_id, assigned.workflow_id)
  returning d.id`;

/**
 * Records which workflows process claimed deliveries from now on, except those that the workflow of a fan-out has handed
 * on since. @returns the ids of the deliveries that they process
 */
export async function assignClaimed(sql: Sql, assigned: readonly AssignedDelivery[]): Promise<ReadonlySet<string>> {
  const ids = assigned.map(({ id }) => id);
  const sorted = ids.toSorted();
  const workflowIds = assigned.map(({ workflowId }) => workflowId);
  const rows = await sql.query<{ id: string }>(ASSIGN_CLAIMED, [
    ids,
    workflowIds,
    sorted[0] ?? '',
    sorted.at(-1) ?? '',
  ]);
  return new Set(rows.map(({ id }) => id));
}

const OF_ENDPOINTS = /* sql */ `
  select distinct workflow_id from deliveries
   where endpoint_id = any($1) and status in ('pending', 'failed') and workflow_id like 'delivery/%'`;

const OF_ORGANIZATION = /* sql */ `
  select distinct d.workflow_id from webhook_endpoints e
    join deliveries d on d.endpoint_id = e.id and d.status in ('pending', 'failed') and d.workflow_id like 'delivery/%'
   where e.organization_id = $1`;

/** Ids of the workflows in which deliveries of these endpoints, or of this organization, wait. */
export async function openDeliveryWorkflows(sql: Sql, target: StopTarget): Promise<string[]> {
  const rows =
    'endpointIds' in target
      ? await sql.query<{ workflow_id: string }>(OF_ENDPOINTS, [target.endpointIds])
      : await sql.query<{ workflow_id: string }>(OF_ORGANIZATION, [target.organizationId]);
  return rows.map((row) => row.workflow_id);
}

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
