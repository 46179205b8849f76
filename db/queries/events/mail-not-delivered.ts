/**
 * Mail of an organization that did not arrive and has no message: refused or deferred (`mail_refusal`), or held by
 * screening. Failed logins are no mail. By the organization and an index, newest first.
 */
import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { HeldReason } from '#domain/mail/screening.ts';
import type { NotDeliveredOutcome } from '#domain/webhooks/activity.ts';
import type { Period } from '#domain/webhooks/activity-time.ts';

export interface NotDeliveredRow {
  /** Of the refusal, or of the message that is held. */
  readonly id: string;
  readonly at: Date;
  readonly direction: 'inbound' | 'outbound';
  readonly outcome: NotDeliveredOutcome;
  readonly from: string | null;
  /** Recipients of the organization; of mail that was given to us for sending all of them, at most 20. */
  readonly to: readonly string[];
  readonly messageIdHeader: string | null;
  /** The SMTP command, or the operation of REST. */
  readonly step: string | null;
  /** The answer that the other side got. */
  readonly answer: string | null;
  /** Address of the client. */
  readonly client: string | null;
  /** Id of the SMTP session, or of the REST request. */
  readonly session: string | null;
  /** Why screening holds it. */
  readonly reasons: readonly HeldReason[];
  readonly mailboxId: string | null;
}

const REFUSED = /* sql */ `
  select id, at, case line ->> 'mail' when 'in' then 'inbound' else 'outbound' end as direction, line ->> 'outcome' as outcome,
         line ->> 'from' as "from", array(select jsonb_array_elements_text(coalesce(line -> 'to', '[]'))) as "to",
         line ->> 'messageId' as "messageIdHeader", line ->> 'step' as step, line ->> 'reply' as answer,
         line ->> 'client' as client, coalesce(line ->> 'session', line ->> 'request') as session,
         '{}'::text[] as reasons, line -> 'mailboxes' ->> 0 as "mailboxId"
    from mail_refusal
   where organization_id = $1 and line ->> 'mail' in ('in', 'submission') and at >= $2 and at < $3
     and ($4::text[] is null or keys && $4 or id = any($4))
   order by at desc, id desc limit $5`;

const HELD = /* sql */ `
  select h.id, h.received_at as at, 'inbound' as direction, h.state as outcome, h.envelope_from as "from",
         array[h.delivered_to] as "to", null as "messageIdHeader", null as step, null as answer, null as client,
         null as session, h.reasons, h.mailbox_id as "mailboxId"
    from held_arrival h join mailboxes x on x.id = h.mailbox_id
   where h.organization_id = $1 and h.id >= $2 and h.id < $3 and h.state <> 'released'
     and ($4::text[] is null or h.id = any($4) or h.author = any($4) or lower(h.envelope_from) = any($4)
          or lower(h.delivered_to) = any($4) or x.address = any($4) or x.id = any($4))
   order by h.id desc limit $5`;

/** @param keys addresses, ids and Message-IDs in lower case, one of which must be that of the mail; null: all mail */
export async function mailNotDelivered(
  sql: Sql,
  organizationId: string,
  keys: readonly string[] | null,
  { since, until }: Period,
  limit: number,
): Promise<NotDeliveredRow[]> {
  const ids = [firstIdAt('message', since.getTime()), firstIdAt('message', until.getTime())];
  const [refused, held] = await Promise.all([
    sql.query<NotDeliveredRow>(REFUSED, [organizationId, since, until, keys, limit]),
    sql.query<NotDeliveredRow>(HELD, [organizationId, ...ids, keys, limit]),
  ]);
  return [...refused, ...held].toSorted((a, b) => b.at.getTime() - a.at.getTime()).slice(0, limit);
}
