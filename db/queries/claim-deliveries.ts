import { firstIdAt } from '../../domain/ids.ts';
import type { Sql } from '../database.ts';

/** A delivery on its way into a fan-out. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly eventType: string;
}

const CLAIM = /* sql */ `
  with due as (
    select id from deliveries
     where fan_out_id is null and id >= $3
     order by id
     limit $2
       for update skip locked
  )
  update deliveries d set fan_out_id = $1, workflow_id = $1
    from due
   where d.id = due.id and d.id >= $3
  returning d.id, d.endpoint_id as "endpointId", d.event_id as "eventId", d.organization_id as "organizationId",
            d.mailbox_id as "mailboxId", d.event_type as "eventType"`;

const RECENT_MS = 2 * 86_400_000;

/**
 * Stamps deliveries that no workflow carries yet with the id of the fan-out that will. Several dispatchers may claim
 * at once: a row goes to one of them.
 *
 * @param everything also those older than two days; otherwise only the newest partitions are looked at
 */
export function claimDeliveries(
  sql: Sql,
  fanOutId: string,
  limit: number,
  nowMs: number,
  everything: boolean,
): Promise<ClaimedDelivery[]> {
  const from = everything ? '' : firstIdAt('delivery', nowMs - RECENT_MS);
  return sql.query<ClaimedDelivery>(CLAIM, [fanOutId, limit, from]);
}

/** Deliveries of one workflow that should have moved on long ago. */
export interface OverdueWorkflow {
  readonly workflowId: string;
  /** All deliveries it holds that are overdue, with their due times. */
  readonly deliveries: readonly { readonly id: string; readonly endpointId: string; readonly dueAtMs: number }[];
}

const OVERDUE = /* sql */ `
  select workflow_id as "workflowId",
         json_agg(json_build_object('id', id, 'endpointId', endpoint_id,
           'dueAtMs', (extract(epoch from coalesce(next_attempt_at, created_at)) * 1000)::bigint)) as deliveries
    from deliveries
   where status in ('pending', 'failed') and fan_out_id is not null
     and coalesce(next_attempt_at, created_at) < $1
   group by workflow_id
   limit $2`;

/** Workflows that hold deliveries overdue since `before`: their engine may have forgotten them. */
export function overdueWorkflows(sql: Sql, before: Date, limit: number): Promise<OverdueWorkflow[]> {
  return sql.query<OverdueWorkflow>(OVERDUE, [before, limit]);
}
