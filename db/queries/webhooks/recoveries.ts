/**
 * Rows of recoveries, and their deliveries in the order of ids.
 *
 * A recovery stores the last processed id (`after_id`). Later deliveries that were already sent again are recognized by
 * a `manual` attempt since its start, so a worker that dies repeats at most unrecorded ones.
 */

import type { Sql } from '#db/database.ts';
import { deletePortion, type Portion } from '#db/delete-portion.ts';
import { noteChange } from '#db/queries/organizations/note-change.ts';
import { PLANS_WITH_WEBHOOKS, type PlanName } from '#domain/organizations/plans.ts';
import type { StopReason, StopTarget } from '#domain/webhooks/delivery-workflows.ts';
import type { RecoverableStatus, RecoveryState } from '#domain/webhooks/recovery.ts';

export interface RecoveryRow {
  readonly id: string;
  readonly organizationId: string;
  readonly endpointId: string;
  /** Of the endpoint; null: organization scope. */
  readonly mailboxId: string | null;
  /** Which deliveries are sent again. */
  readonly status: RecoverableStatus;
  readonly since: Date;
  readonly until: Date;
  readonly state: RecoveryState;
  readonly stopReason: StopReason | null;
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly finishedAt: Date | null;
}

const COLUMNS = /* sql */ `
  r.id, r.organization_id as "organizationId", r.endpoint_id as "endpointId", r.mailbox_id as "mailboxId", r.status,
  r.since, r.until, r.state, r.stop_reason as "stopReason", r.total, r.succeeded, r.failed,
  r.created_at as "createdAt", r.updated_at as "updatedAt", r.finished_at as "finishedAt"`;

export interface NewRecovery
  extends Pick<RecoveryRow, 'id' | 'organizationId' | 'endpointId' | 'mailboxId' | 'status' | 'since' | 'until'> {
  /** Its deliveries have ids above `afterId` and below `beforeId`. */
  readonly afterId: string;
  readonly beforeId: string;
}

const INSERT = /* sql */ `
  with r as (
    insert into recoveries
      (id, organization_id, endpoint_id, mailbox_id, status, since, until, after_id, before_id, total)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, (
      select count(*) from deliveries where endpoint_id = $3 and id > $8 and id < $9 and status = $5))
    on conflict (endpoint_id) where finished_at is null do nothing
    returning *
  ), noted as (${noteChange('recovery', 'r', 'endpoint_id')})
  select ${COLUMNS} from r`;

/** @returns undefined if the endpoint already has a running one */
export async function insertRecovery(sql: Sql, recovery: NewRecovery): Promise<RecoveryRow | undefined> {
  const { id, organizationId, endpointId, mailboxId, status, since, until, afterId, beforeId } = recovery;
  const [row] = await sql.query<RecoveryRow>(INSERT, [
    id,
    organizationId,
    endpointId,
    mailboxId,
    status,
    since,
    until,
    afterId,
    beforeId,
  ]);
  return row;
}

export interface OfEndpoint {
  readonly organizationId: string;
  readonly endpointId: string;
}

export async function findRecovery(sql: Sql, of: OfEndpoint, id: string): Promise<RecoveryRow | undefined> {
  const [row] = await sql.query<RecoveryRow>(
    `select ${COLUMNS} from recoveries r where r.id = $1 and r.endpoint_id = $2 and r.organization_id = $3`,
    [id, of.endpointId, of.organizationId],
  );
  return row;
}

/** The one of the endpoint that has not ended. */
export async function openRecoveryOf(sql: Sql, endpointId: string): Promise<RecoveryRow | undefined> {
  const [row] = await sql.query<RecoveryRow>(
    `select ${COLUMNS} from recoveries r where r.endpoint_id = $1 and r.finished_at is null`,
    [endpointId],
  );
  return row;
}

/** Newest first; one more than `limit`. */
export const listRecoveries = (
  sql: Sql,
  of: OfEndpoint,
  page: { readonly limit: number; readonly after: string | null },
): Promise<RecoveryRow[]> =>
  sql.query<RecoveryRow>(
    `select ${COLUMNS} from recoveries r
      where r.endpoint_id = $1 and r.organization_id = $2 and ($3::text is null or r.id < $3)
      order by r.id desc limit $4`,
    [of.endpointId, of.organizationId, page.after, page.limit + 1],
  );

const CHANGE = /* sql */ `
  with r as (
    update recoveries
       set state = $2, stop_reason = $3, updated_at = now(),
           finished_at = case when $2 in ('running', 'paused') then null else now() end
     where id = $1 and finished_at is null
    returning *
  ), noted as (${noteChange('recovery', 'r', 'endpoint_id')})
  select ${COLUMNS} from r`;

/** Moves a recovery that has not ended to another state. @returns undefined when it has ended */
export async function changeRecovery(
  sql: Sql,
  id: string,
  state: RecoveryState,
  stopReason: StopReason | null = null,
): Promise<RecoveryRow | undefined> {
  const [row] = await sql.query<RecoveryRow>(CHANGE, [id, state, stopReason]);
  return row;
}

/** The current state of a recovery, with the data that decides whether and how fast it continues. */
export interface RecoveryStanding extends RecoveryRow {
  /** Why nothing may be sent any more; null: it may. */
  readonly mustStop: StopReason | null;
  readonly plan: PlanName;
  /** Recoveries of the organization that run, this one included. */
  readonly running: number;
  /** The remaining deliveries have ids above this, and below `beforeId`. */
  readonly afterId: string;
  readonly beforeId: string;
}

const STANDING = /* sql */ `
  select ${COLUMNS}, r.after_id as "afterId", r.before_id as "beforeId", o.plan,
         case when m.deleted_at is not null then 'mailbox_deleted'
              when e.deleted_at is not null then 'endpoint_deleted'
              when not e.active then 'endpoint_inactive'
              when o.suspended_at is not null then 'organization_suspended'
              when not (o.plan = any($2)) then 'plan_downgraded' end as "mustStop",
         (select count(*)::int from recoveries x
           where x.organization_id = r.organization_id and x.finished_at is null and x.state = 'running') as running
    from recoveries r
    join webhook_endpoints e on e.id = r.endpoint_id
    join organizations o on o.id = r.organization_id
    left join mailboxes m on m.id = e.mailbox_id
   where r.id = $1`;

/** @returns undefined if it was deleted with its organization */
export async function recoveryStanding(sql: Sql, id: string): Promise<RecoveryStanding | undefined> {
  const [row] = await sql.query<RecoveryStanding>(STANDING, [id, PLANS_WITH_WEBHOOKS]);
  return row;
}

/** Whether a delivery was sent again since the recovery began. */
const SENT_AGAIN = /* sql */ `
  exists (select from delivery_attempts a
           where a.delivery_id = d.id and a.trigger = 'manual' and a.started_at >= r.created_at)`;

/**
 * Deliveries given up before the recovery began, and not sent again by it. The cheap conditions come first, so that
 * attempts are looked up for few deliveries only.
 */
const WINDOW = /* sql */ `
  select d.id, ${SENT_AGAIN} as "sentAgain"
    from deliveries d, recoveries r
   where r.id = $1 and d.endpoint_id = $2 and d.id > $3 and d.id < $4
     and case when d.status = 'exhausted' and r.status = 'exhausted' and d.completed_at < r.created_at then true
              when d.status = 'failed' and r.status = 'failed' and d.next_attempt_at > now() then true
              when d.status = 'failed' or d.completed_at >= r.created_at then ${SENT_AGAIN}
              else false end
   order by d.id limit $5`;

/**
 * The next deliveries of a recovery, oldest first. One that waits for a retry which is due is left to its workflow.
 */
export const recoveryWindow = (
  sql: Sql,
  { id, endpointId, afterId, beforeId }: RecoveryStanding,
  limit: number,
): Promise<{ readonly id: string; readonly sentAgain: boolean }[]> =>
  sql.query(WINDOW, [id, endpointId, afterId, beforeId, limit]);

const ADVANCE = /* sql */ `
  with sent as (
    select count(*) filter (where d.status = 'success')::int as succeeded,
           count(*) filter (where d.status <> 'success')::int as failed
      from deliveries d, recoveries r
     where r.id = $1 and d.id = any($2) and d.id >= $3 and d.id <= $4 and ${SENT_AGAIN}
  ), changed as (
    update recoveries r
       set after_id = $4, succeeded = r.succeeded + sent.succeeded, failed = r.failed + sent.failed, updated_at = now()
      from sent where r.id = $1 and r.after_id < $3
    returning r.organization_id, r.endpoint_id
  )
  ${noteChange('recovery', 'changed', 'endpoint_id')}`;

/** Counts the results of deliveries (in the order of their ids) and continues after the last of them. */
export async function advanceRecovery(sql: Sql, id: string, deliveryIds: readonly string[]): Promise<void> {
  const [first, last] = [deliveryIds[0], deliveryIds.at(-1)];
  if (last !== undefined) await sql.query(ADVANCE, [id, deliveryIds, first, last]);
}

/** Shows the sweep that a recovery is being processed although nothing of it could be sent. */
export async function touchRecovery(sql: Sql, id: string): Promise<void> {
  await sql.query(`update recoveries set updated_at = now() where id = $1`, [id]);
}

/**
 * Claims running recoveries without progress for this time: the engine may have lost them. One replica claims them, and
 * they are not claimed again before the same time has passed.
 */
export const takeOverdueRecoveries = (sql: Sql, overdueMs: number, limit: number): Promise<RecoveryRow[]> =>
  sql.query<RecoveryRow>(
    `update recoveries r set updated_at = now()
      where r.id in (
        select id from recoveries
         where finished_at is null and state = 'running'
           and updated_at < now() - make_interval(secs => $1::float / 1000)
         order by updated_at limit $2 for update skip locked)
     returning ${COLUMNS}`,
    [overdueMs, limit],
  );

/** Those of endpoints, or of an organization, that have not ended. */
export const openRecoveries = (
  sql: Sql,
  target: StopTarget,
): Promise<{ readonly id: string; readonly endpointId: string }[]> =>
  'endpointIds' in target
    ? sql.query(
        `select id, endpoint_id as "endpointId" from recoveries where endpoint_id = any($1) and finished_at is null`,
        [target.endpointIds],
      )
    : sql.query(
        `select id, endpoint_id as "endpointId" from recoveries where organization_id = $1 and finished_at is null`,
        [target.organizationId],
      );

/** Deletes those that ended more than so many days ago. */
export const forgetRecoveries = (sql: Sql, days: number, rows: number): Promise<Portion> =>
  deletePortion(sql, 'recoveries', 'finished_at < now() - make_interval(days => $1)', [days], rows);
