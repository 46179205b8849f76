/**
 * Brakes of sending (`domain/sending/sending-brakes.ts`), exact over all processes.
 *
 * Everything that lets mail be sent (submission, release, the reservation of an attempt) holds the organization's lock
 * shared and reads the brakes under it; a change of brakes holds it exclusively. So a change waits for transactions
 * that have begun, and later ones see it. Take the lock first in a transaction: rows of messages are locked after it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from '#db/database.ts';
import type { OrganizationSettings } from '#db/entities.ts';
import { OUTBOUND_DECIDED_OVERDUE_MS, OUTBOUND_GIVE_UP_MS } from '#domain/sending/outbound.ts';
import {
  type SendingMode,
  STOP_SETTLES_WITHIN_MS,
  STOPPED_SENTENCES,
  type StoppedBy,
  stoppedBy,
} from '#domain/sending/sending-brakes.ts';

const LOCK = `hashtextextended('sending of ' || $1::text, 0)`;

/** The shared lock: for everything that lets mail be sent, until its transaction ends. */
export async function shareBrakes(sql: Sql, organizationId: string): Promise<void> {
  await sql.query(`select pg_advisory_xact_lock_shared(${LOCK})`, [organizationId]);
}

/** The exclusive lock: for a change of brakes, until its transaction ends. */
export async function lockBrakes(sql: Sql, organizationId: string): Promise<void> {
  await sql.query(`select pg_advisory_xact_lock(${LOCK})`, [organizationId]);
}

interface BrakesNow {
  readonly mode: SendingMode;
  readonly stoppedBy: StoppedBy | null;
}

/** Settings of `organizations o` as they count now: while it is suspended, its sending is stopped. */
export const SETTINGS_NOW = /* sql */ `
  case when o.suspended_at is null then o.settings else o.settings || '{"sendingStopped":true}' end`;

/** The current brakes of a mailbox; of a deleted one: none. */
async function readBrakes(sql: Sql, mailboxId: string): Promise<BrakesNow> {
  const [row] = await sql.query<{ mode: SendingMode; settings: OrganizationSettings }>(
    `select m.sending_mode as mode, ${SETTINGS_NOW} as settings from mailboxes m join organizations o on o.id = m.organization_id
      where m.id = $1`,
    [mailboxId],
  );
  if (row === undefined) return { mode: 'normal', stoppedBy: null };
  return { mode: row.mode, stoppedBy: stoppedBy(row.mode, row.settings.sendingStopped === true) };
}

/** Why a mailbox may send nothing now, as a sentence; null: it may. */
export async function stoppedBecause(sql: Sql, mailboxId: string): Promise<string | null> {
  const { stoppedBy: by } = await readBrakes(sql, mailboxId);
  return by === null ? null : STOPPED_SENTENCES[by];
}

/** Whether a message may not be sent now: a person stopped its mailbox or organization, or the operator the message. */
export async function isStopped(
  sql: Sql,
  { id, mailboxId }: { readonly id: string; readonly mailboxId: string },
): Promise<boolean> {
  const [onHold] = await sql.query(`select 1 from outbound_message where id = $1 and on_hold_since is not null`, [id]);
  return onHold !== undefined || (await readBrakes(sql, mailboxId)).stoppedBy !== null;
}

/** The scope of a change of brakes: all mailboxes of an organization, or one. */
interface BrakesScope {
  readonly organizationId: string;
  readonly mailboxId: string | null;
}

/**
 * Lets stopped messages go on, as far as nothing stops them any more: they are due at once, and have two days from now.
 * Call it in the transaction that changed the brakes.
 *
 * @returns messages whose workflows are to be woken; for others the sweep does it
 */
export async function goOn(sql: Sql, { organizationId, mailboxId }: BrakesScope, now: Date): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(GO_ON, [
    organizationId,
    mailboxId,
    new Date(now.getTime() + OUTBOUND_DECIDED_OVERDUE_MS),
    new Date(now.getTime() + OUTBOUND_GIVE_UP_MS),
  ]);
  return rows.slice(0, WOKEN_AT_ONCE).map(({ id }) => id);
}

const WOKEN_AT_ONCE = 200;

const GO_ON = `
  update outbound_message o
     set due_at = $3, give_up_at = case when o.give_up_at is null then null else $4::timestamptz end
    from mailboxes m join organizations g on g.id = m.organization_id
   where o.organization_id = $1 and ($2::text is null or o.mailbox_id = $2) and o.stopped_at is not null
     and o.state in ('held', 'scheduled', 'sending') and m.id = o.mailbox_id and m.sending_mode <> 'stopped'
     and coalesce((g.settings->>'sendingStopped')::bool, false) = false and g.suspended_at is null
  returning o.id`;

/** Waits until no transmission that began before a stop is in flight any more, for ten seconds at most. */
export async function handOversEnded(sql: Sql, scope: BrakesScope): Promise<void> {
  const until = performance.now() + STOP_SETTLES_WITHIN_MS;
  while (performance.now() < until) {
    const rows = await sql.query(IN_FLIGHT, [scope.organizationId, scope.mailboxId]);
    if (rows.length === 0) return;
    await pause(LOOK_MS);
  }
}

const LOOK_MS = 50;

/** A session takes 15 minutes at most; an older reservation was interrupted by a crash. */
const IN_FLIGHT = `
  select 1 from outbound_message o join outbound_attempt a on a.message_id = o.id
   where o.organization_id = $1 and ($2::text is null or o.mailbox_id = $2) and o.state = 'sending'
     and a.finished_at is null and a.started_at > now() - interval '15 minutes'
     and exists (select from outbound_recipient r
                  where r.message_id = o.id and r.status = 'sending' and r.address = any(a.recipients))
   limit 1`;
