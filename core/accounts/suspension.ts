/**
 * Suspension of an organization by the operator of the instance.
 *
 *   active ──suspend──▶ suspended ──resume──▶ active
 *
 * While it is suspended its credentials are refused on every protocol and open connections end; other hosts are answered
 * 4xx or 5xx; outgoing mail, requests for a decision and their expiry wait; webhook deliveries end with the reason
 * `organization_suspended`. The row is the truth: each path reads it, nothing is copied. Resuming gives waiting mail two
 * days again, moves the expiry of open requests by the time that passed, and returns the deliveries that had ended.
 */
import { announceMailboxAccess, MAIL_CHANGES_CHANNEL } from '#core/mailboxes/mailbox-logins.ts';
import { goOn, handOversEnded, lockBrakes } from '#core/mailboxes/sending-brakes.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { noteChange } from '#db/queries/organizations/note-change.ts';
import { CatalogueError } from '#domain/errors.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { SuspendedReceive } from '#domain/organizations/suspension.ts';

export interface Suspension {
  readonly receive: SuspendedReceive;
  readonly reason: string | null;
}

interface SuspendedRow {
  readonly suspended_at: Date | null;
  readonly suspended_receive: SuspendedReceive | null;
  readonly suspended_reason: string | null;
}

const READ = `
  select suspended_at, suspended_receive, suspended_reason from organizations where id = $1 for no key update`;

/** Everything that reads access again. */
async function announceAccess(sql: Sql, organizationId: string): Promise<void> {
  const mailboxes = await sql.query<{ id: string }>(
    `select id from mailboxes where organization_id = $1 and deleted_at is null`,
    [organizationId],
  );
  await announceMailboxAccess(sql, ...mailboxes.map(({ id }) => id));
  await sql.query(`select pg_notify($1, ';key ' || id) from api_keys where organization_id = $2`, [
    MAIL_CHANGES_CHANNEL,
    organizationId,
  ]);
  // Streams of people check their access at a change of members.
  await sql.query(
    `with ended as (select organization_id, id from members where organization_id = $1)
     ${noteChange('member', 'ended', 'id')}`,
    [organizationId],
  );
}

/**
 * Suspends an organization; of a suspended one it changes how mail to it is answered. Answered when no transmission is
 * in flight any more, after ten seconds at most.
 *
 * @throws {CatalogueError} not_found
 */
export async function suspendOrganization(
  services: Services,
  organizationId: string,
  caller: Caller,
  { receive, reason }: Suspension,
): Promise<void> {
  const { db } = services;
  const changed = await db.transaction(async (sql) => {
    await lockBrakes(sql, organizationId);
    const [before] = await sql.query<SuspendedRow>(READ, [organizationId]);
    if (before === undefined) throw new CatalogueError('not_found');
    if (
      before.suspended_at !== null &&
      before.suspended_receive === receive &&
      (reason === null || before.suspended_reason === reason)
    )
      return false;
    await sql.query(
      `update organizations set suspended_at = coalesce(suspended_at, $2), suspended_receive = $3,
              suspended_reason = coalesce($4, suspended_reason), updated_at = $2 where id = $1`,
      [organizationId, new Date(services.now()), receive, reason],
    );
    await announceAccess(sql, organizationId);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'organization.suspended',
      targetId: organizationId,
      details: { receive, reason },
    });
    return true;
  });
  if (changed) await handOversEnded(db, { organizationId, mailboxId: null });
}

/**
 * Resumes an organization; one that is not suspended does not change.
 *
 * @returns messages whose workflows are to be woken (for others the sweep does it), and how many deliveries were returned
 * @throws {CatalogueError} not_found
 */
export async function resumeOrganization(
  services: Services,
  organizationId: string,
  caller: Caller,
): Promise<{ readonly woken: readonly string[]; readonly deliveries: number }> {
  const now = new Date(services.now());
  const resumed = await services.db.transaction(async (sql) => {
    await lockBrakes(sql, organizationId);
    const [before] = await sql.query<SuspendedRow>(READ, [organizationId]);
    if (before === undefined) throw new CatalogueError('not_found');
    const { suspended_at: since } = before;
    if (since === null) return { woken: [], deliveries: 0 };
    await sql.query(
      `update organizations set suspended_at = null, suspended_receive = null, suspended_reason = null, updated_at = $2
        where id = $1`,
      [organizationId, now],
    );
    await sql.query(MOVE_EXPIRY, [organizationId, since, now]);
    const woken = await goOn(sql, { organizationId, mailboxId: null }, now);
    const [returned] = await sql.query<{ count: number }>(RETURN_DELIVERIES, [
      organizationId,
      firstIdAt('delivery', since.getTime() - LADDER_MS),
    ]);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'organization.resumed',
      targetId: organizationId,
      details: { suspendedAt: since.toISOString(), deliveries: returned?.count ?? 0 },
    });
    return { woken, deliveries: returned?.count ?? 0 };
  });
  services.deliveriesDue.wake();
  return resumed;
}

const MOVE_EXPIRY = /* sql */ `
  update consent set expires_at = expires_at + ($3::timestamptz - greatest($2::timestamptz, created_at))
   where organization_id = $1 and status = 'pending'`;

/** Longer than all attempts of a delivery take: older ones had ended before. */
const LADDER_MS = 14 * 86_400_000;

/** As if nobody had taken them. Their attempts go on counting; a deleted endpoint ends them again. */
const RETURN_DELIVERIES = /* sql */ `
  with returned as (
    update deliveries d
       set status = case when d.attempt_count = 0 then 'pending' else 'failed' end, reason = null, completed_at = null,
           next_attempt_at = null, fan_out_id = null, workflow_id = null, lease = null, reservation = null
      from webhook_endpoints e
     where e.organization_id = $1 and d.endpoint_id = e.id and d.id >= $2
       and d.status = 'exhausted' and d.reason = 'organization_suspended'
    returning d.id
  )
  select count(*)::int as count from returned`;
