/**
 * How the mail of a mailbox is received, see `domain/sending/sending-brakes.ts`. It is reviewed with every failure and complaint.
 *
 *   ok ──▶ flagged ──▶ paused ──somebody resumes──▶ ok
 *    ▲        │ a day without a further failure, or a review below the rate
 *    └────────┘
 */

import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { firstIdAt } from '#domain/ids.ts';
import { SENT_COPY_WINDOW_MINUTES } from '#domain/sending/outbound.ts';
import {
  evaluateSending,
  SENDING_RATE_WINDOW_MS,
  type SendingCounts,
  type SendingHealth,
} from '#domain/sending/sending-brakes.ts';

const MINUTE_MS = 60_000;

/** Call it in the transaction that recorded a failure or a complaint, as its last lock. */
export async function reviewSending(sql: Sql, mailboxId: string, now: Date): Promise<void> {
  const [known] = await sql.query<{ state: string; counted_from: Date | null }>(
    `select state, counted_from from mailbox_sending where mailbox_id = $1`,
    [mailboxId],
  );
  if (known?.state === 'paused') return;
  const since = Math.max(now.getTime() - SENDING_RATE_WINDOW_MS, known?.counted_from?.getTime() ?? 0);
  const [counts] = await sql.query<SendingCounts>(COUNT, [
    mailboxId,
    new Date(since),
    // A message whose copy was filed before it was submitted has the id of the copy.
    firstIdAt('message', since - SENT_COPY_WINDOW_MINUTES * MINUTE_MS),
  ]);
  if (counts === undefined) return;
  const { state, reason } = evaluateSending(counts);
  if (state === 'ok' && known === undefined) return;
  await sql.query(
    `insert into mailbox_sending as s (mailbox_id, state, reason, reviewed_at) values ($1, $2, $3, $4)
     on conflict (mailbox_id) do update set state = $2, reason = $3, reviewed_at = $4 where s.state <> 'paused'`,
    [mailboxId, state, reason, now],
  );
}

const COUNT = `
  select count(*) filter (where r.status in ('sent', 'bounced'))::int as "handedOver",
         count(*) filter (where r.status = 'bounced' and not r.report_shared)::int as bounced,
         (select count(*)::int from outbound_recipient c join outbound_message x on x.id = c.message_id
           where x.mailbox_id = $1 and c.complained_at >= $2) as complained
    from outbound_message m join outbound_recipient r on r.message_id = m.id
   where m.mailbox_id = $1 and m.submitted_at >= $2 and m.id >= $3 and not r.local`;

/** Why nothing leaves the mailbox, or undefined. */
export async function pausedBecause(sql: Sql, mailboxId: string): Promise<string | undefined> {
  const [row] = await sql.query<{ reason: string }>(
    `select reason from mailbox_sending where mailbox_id = $1 and state = 'paused'`,
    [mailboxId],
  );
  return row?.reason;
}

/** The state to show: a flag ends automatically. */
export const shownHealth = (
  row: {
    readonly state: SendingHealth['state'] | null;
    readonly reason: string | null;
    readonly reviewedAt: Date | null;
  },
  nowMs: number,
): SendingHealth =>
  row.state === 'paused' ||
  (row.state === 'flagged' && (row.reviewedAt?.getTime() ?? 0) > nowMs - SENDING_RATE_WINDOW_MS)
    ? { state: row.state, reason: row.reason }
    : { state: 'ok', reason: null };

/**
 * Ends the pause of a mailbox; counting starts anew. A mailbox that is not paused does not change.
 *
 * @throws {CatalogueError} not_found
 */
export async function resumeSending(
  { db, now }: Pick<Services, 'db' | 'now'>,
  organizationId: string,
  mailboxId: string,
  caller: Caller,
): Promise<void> {
  await db.transaction(async (sql) => {
    const found = await sql.query(
      `select 1 from mailboxes where id = $1 and organization_id = $2 and deleted_at is null`,
      [mailboxId, organizationId],
    );
    if (found.length === 0) throw new CatalogueError('not_found');
    const resumed = await sql.query(
      `update mailbox_sending set state = 'ok', reason = null, reviewed_at = $2, counted_from = $2
        where mailbox_id = $1 and state <> 'ok' returning mailbox_id`,
      [mailboxId, new Date(now())],
    );
    if (resumed.length > 0)
      await recordAudit(sql, caller, { organizationId, action: 'mailbox.sending_resumed', targetId: mailboxId });
  });
}
