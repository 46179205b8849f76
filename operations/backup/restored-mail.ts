/**
 * Outgoing mail after a restore. What was being sent at the backup may have been sent since; the restored rows do not
 * know it, so it would be sent again. Its mailboxes are stopped (the brake `stopped`), until a person has looked.
 */
import { recordAudits } from '#core/organizations/audit.ts';
import type { Sql } from '#db/database.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { startAllOutboundAgain } from '#sending/submit/start-outbound.ts';

/** Between the backup and the loss so little was sent that a duplicate is better than a delay. */
export const SEND_AGAIN_UP_TO_MS = 5 * 60_000;

/** Held mail and webhooks, too: what goes on after a restore. */
export interface RestoredMail {
  /** Being sent at the backup, or scheduled for a time before the restore: may have been sent since. */
  readonly maybeSent: number;
  /** Mailboxes of these messages. */
  readonly mailboxes: readonly { readonly id: string; readonly address: string; readonly messages: number }[];
  /** Whether these mailboxes were stopped. */
  readonly stopped: boolean;
  /** Waits for a person; a decision since the backup is lost, and must be made again. */
  readonly held: number;
  /** Scheduled for a time after the restore; a withdrawal since the backup is lost. */
  readonly scheduled: number;
  /** Webhooks that were not acknowledged: sent again under the same `webhook-id`. */
  readonly deliveries: number;
  /** Notices to members that were waiting to be sent. */
  readonly notices: number;
}

const MAYBE_SENT = `
  o.state = 'sending' and exists (select from outbound_recipient r
                                   where r.message_id = o.id and r.status in ('queued', 'sending'))
  or o.state = 'scheduled' and o.send_at <= $1`;

/** @param stop whether to stop mailboxes whose mail may have been sent. Call it in the transaction of the restore. */
export async function settleOutgoing(sql: Sql, now: Date, stop: boolean): Promise<RestoredMail> {
  const mailboxes = await sql.query<{ id: string; address: string; messages: number }>(
    `select m.id, m.address, count(*)::int as messages from outbound_message o join mailboxes m on m.id = o.mailbox_id
      where ${MAYBE_SENT} group by 1, 2 order by 2`,
    [now],
  );
  if (stop && mailboxes.length > 0)
    await stopMailboxes(
      sql,
      mailboxes.map(({ id }) => id),
    );
  const [counts] = await sql.query<Pick<RestoredMail, 'held' | 'scheduled' | 'deliveries' | 'notices'>>(COUNTS, [now]);
  if (counts === undefined) throw new Error('a count without a row');
  await startAllOutboundAgain(sql, now);
  return {
    ...counts,
    mailboxes,
    maybeSent: mailboxes.reduce((sum, { messages }) => sum + messages, 0),
    stopped: stop && mailboxes.length > 0,
  };
}

const COUNTS = `
  select (select count(*)::int from outbound_message where state = 'held') as held,
         (select count(*)::int from outbound_message where state = 'scheduled' and send_at > $1) as scheduled,
         (select count(*)::int from deliveries where status in ('pending', 'failed')) as deliveries,
         (select count(*)::int from member_notices where state = 'waiting') as notices`;

/** The mode of before is in the audit log. */
async function stopMailboxes(sql: Sql, ids: readonly string[]): Promise<void> {
  const stopped = await sql.query<{ id: string; organizationId: string; before: string }>(STOP, [ids]);
  const caller = { actor: { ...SYSTEM_ACTOR, name: 'restore' }, ipAddress: null, requestId: null };
  await recordAudits(
    sql,
    stopped.map(({ id, organizationId, before }) => ({
      caller,
      entry: {
        organizationId,
        action: 'mailbox.brakes_changed' as const,
        targetId: id,
        details: { before: { mode: before }, after: { mode: 'stopped' }, why: 'restored from a backup' },
      },
    })),
  );
}

const STOP = `
  with before as (select id, organization_id, sending_mode from mailboxes where id = any($1::text[]) and sending_mode <> 'stopped')
  update mailboxes m set sending_mode = 'stopped' from before b where m.id = b.id
  returning m.id, m.organization_id as "organizationId", b.sending_mode as before`;
