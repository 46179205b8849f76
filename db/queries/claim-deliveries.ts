import { firstIdAt } from '../../domain/ids.ts';
import type { PlanName } from '../../domain/plans.ts';
import type { Sql } from '../database.ts';

/** A delivery on its way into a fan-out. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly eventType: string;
  readonly plan: PlanName;
  /** The endpoint has lately been slow. Null: it is gone. */
  readonly troubled: boolean | null;
}

const CLAIMED = /* sql */ `
  update deliveries d set fan_out_id = $1, workflow_id = $1
    from due, organizations o
   where d.id = due.id and d.id >= $3 and o.id = d.organization_id
  returning d.id, d.endpoint_id as "endpointId", d.event_id as "eventId", d.organization_id as "organizationId",
            d.mailbox_id as "mailboxId", d.event_type as "eventType", o.plan,
            (select coalesce(e.troubled_until > now(), false) from webhook_endpoints e
              where e.id = d.endpoint_id) as troubled`;

const CLAIM = /* sql */ `
  with due as (
    select id from deliveries
     where fan_out_id is null and id >= $3
     order by id
     limit $2
       for update skip locked
  )
  ${CLAIMED}`;

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

/** Steps from organization to organization by the index, whatever the backlog of one of them is. */
const CLAIM_FAIRLY = /* sql */ `
  with recursive organizations_waiting as (
    (select organization_id, 1 as place from deliveries
      where fan_out_id is null and id >= $3 and organization_id > $4 order by organization_id limit 1)
    union all
    select (select d.organization_id from deliveries d
             where d.fan_out_id is null and d.id >= $3 and d.organization_id > w.organization_id
             order by d.organization_id limit 1), w.place + 1
      from organizations_waiting w
     where w.organization_id is not null and w.place < $5::int
  ),
  due as (
    select oldest.id from organizations_waiting w
     cross join lateral (
       select id from deliveries d
        where d.fan_out_id is null and d.id >= $3 and d.organization_id = w.organization_id
        order by id limit $2::int for update skip locked
     ) oldest
     where w.organization_id <> all($6::text[])
  )
  ${CLAIMED}`;

/** Organizations one fair claim looks at. */
export const FAIR_CLAIM_ORGANIZATIONS = 50;

/**
 * As `claimDeliveries`, but a few of the oldest of many organizations, so that one organization's backlog does not hold
 * the others up.
 *
 * @param after looks at organizations with ids above this; '' begins anew
 * @param excluded organizations that have had their share
 */
export function claimFairly(
  sql: Sql,
  fanOutId: string,
  each: number,
  nowMs: number,
  after: string,
  excluded: readonly string[],
): Promise<ClaimedDelivery[]> {
  const from = firstIdAt('delivery', nowMs - RECENT_MS);
  const organizations = FAIR_CLAIM_ORGANIZATIONS + excluded.length;
  return sql.query<ClaimedDelivery>(CLAIM_FAIRLY, [fanOutId, each, from, after, organizations, excluded]);
}

/** Deliveries of one workflow that should have moved on long ago. */
export interface OverdueWorkflow {
  readonly workflowId: string;
  /** All deliveries it holds that are not final, overdue or not, with their due times: they share one workflow. */
  readonly deliveries: readonly { readonly id: string; readonly endpointId: string; readonly dueAtMs: number }[];
}

const OVERDUE = /* sql */ `
  with overdue as (
    select workflow_id from deliveries
     where status in ('pending', 'failed') and fan_out_id is not null
       and coalesce(next_attempt_at, created_at) < $1 and workflow_id collate "C" > $2
     group by workflow_id order by workflow_id collate "C" limit $3::int
  )
  select workflow_id as "workflowId",
         json_agg(json_build_object('id', id, 'endpointId', endpoint_id,
           'dueAtMs', (extract(epoch from coalesce(next_attempt_at, created_at)) * 1000)::bigint)) as deliveries
    from overdue join deliveries using (workflow_id)
   where status in ('pending', 'failed')
   group by workflow_id
   order by workflow_id collate "C"`;

/**
 * Workflows that hold deliveries overdue since `before`: their engine may have forgotten them.
 *
 * @param after in the order of their ids, those behind this one; '' begins anew
 */
export function overdueWorkflows(sql: Sql, before: Date, after: string, limit: number): Promise<OverdueWorkflow[]> {
  return sql.query<OverdueWorkflow>(OVERDUE, [before, after, limit]);
}
