/** Submitted messages of a mailbox that wait, and recent results. */
import type { Sql } from '#db/database.ts';
import {
  type ConsentChanges,
  type ConsentScope,
  type ConsentStatus,
  type HeldBecauseKind,
  heldBecauseSentence,
  RETURNED_SENTENCE,
} from '#domain/sending/consent.ts';
import { OUTBOX_RECENT_MS, type OutboundState, type RecipientStatus } from '#domain/sending/outbound.ts';

/** A decision as the mailbox sees it: not by whom. */
export interface Decision {
  /**
   * `returned`: a person sent it back with a comment; `expired`: nobody decided in time; `withdrawn`: the sender withdrew
   * the message.
   */
  readonly outcome: 'approved' | 'denied' | 'returned' | 'expired' | 'withdrawn';
  readonly scope: ConsentScope | null;
  /** Of a denial; the comment of a returned message. */
  readonly reason: string | null;
  readonly decidedAt: Date;
  readonly changes: ConsentChanges | null;
}

interface ConsentColumns {
  readonly status: ConsentStatus;
  readonly scope: ConsentScope | null;
  readonly reason: string | null;
  readonly returned: boolean | null;
  readonly decidedAt: Date | null;
  readonly decidedBy: { readonly type: string } | null;
  readonly changes: ConsentChanges | null;
}

/** Null: it is not decided. */
export function decisionOf({
  status,
  scope,
  reason,
  returned,
  decidedAt,
  decidedBy,
  changes,
}: ConsentColumns): Decision | null {
  if (status === 'pending' || decidedAt === null) return null;
  const isExpired = status === 'denied' && reason === 'expired' && decidedBy?.type === 'system';
  if (returned === true) return { outcome: 'returned', scope, reason, decidedAt, changes };
  const outcome = isExpired ? 'expired' : status === 'denied' && reason === 'withdrawn' ? 'withdrawn' : status;
  return { outcome, scope, reason, decidedAt, changes };
}

interface OutboxRecipient {
  readonly address: string;
  readonly status: RecipientStatus;
  readonly reply: string | null;
  readonly nextAttemptAt: string | null;
}

export interface OutboxMessage {
  readonly id: string;
  readonly state: OutboundState;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly subject: string;
  readonly preview: string;
  readonly submittedAt: Date;
  readonly sendAt: Date | null;
  readonly stoppedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly consentId: string | null;
  readonly draftId: string | null;
  readonly recipients: readonly OutboxRecipient[];
  /** Of its request; null: there is none. */
  readonly request: {
    readonly expiresAt: Date;
    readonly heldBecause: HeldBecauseKind;
    readonly recipients: readonly string[];
    readonly decision: Decision | null;
  } | null;
}

interface Row extends Omit<OutboxMessage, 'request'> {
  readonly status: ConsentStatus | null;
  readonly scope: ConsentScope | null;
  readonly reason: string | null;
  readonly returned: boolean | null;
  readonly decidedAt: Date | null;
  readonly decidedBy: { readonly type: string } | null;
  readonly changes: ConsentChanges | null;
  readonly expiresAt: Date | null;
  readonly heldBecause: HeldBecauseKind;
  readonly asked: readonly string[] | null;
}

/** Newest first; one more than `limit`. */
export async function listOutbox(
  sql: Sql,
  mailboxId: string,
  now: number,
  page: { readonly limit: number; readonly after: string | null },
): Promise<OutboxMessage[]> {
  const rows = await sql.query<Row>(LIST, [mailboxId, page.after, new Date(now - OUTBOX_RECENT_MS), page.limit + 1]);
  return rows.map(
    ({ status, scope, reason, returned, decidedAt, decidedBy, changes, expiresAt, heldBecause, asked, ...row }) => ({
      ...row,
      request:
        status === null || expiresAt === null
          ? null
          : {
              expiresAt,
              heldBecause,
              recipients: asked ?? [],
              decision: decisionOf({ status, scope, reason, returned, decidedAt, decidedBy, changes }),
            },
    }),
  );
}

/** The reason for its state, for an agent to read; null: it is finished. */
export function outboxReason({ state, request, sendAt, stoppedAt, recipients }: OutboxMessage): string | null {
  const replyOf = (...statuses: readonly RecipientStatus[]) =>
    recipients.find(({ status, reply }) => statuses.includes(status) && reply !== null)?.reply ?? null;
  switch (state) {
    case 'held':
      return request === null
        ? null
        : `${heldBecauseSentence(request.heldBecause, request.recipients)} A person decides until ${request.expiresAt.toISOString()}; do not send it again.`;
    case 'scheduled':
      if (sendAt !== null) return `It waits until ${sendAt.toISOString()}.`;
      return stoppedAt === null ? 'It is approved and waits for its first attempt.' : null;
    case 'sending':
      return replyOf('queued', 'sending') ?? 'It waits for its next attempt.';
    case 'denied':
      if (request?.decision?.outcome === 'returned')
        return `A person sent it back with a comment: ${request.decision.reason ?? ''} ${RETURNED_SENTENCE}`;
      return request?.decision?.reason ?? replyOf('denied');
    case 'done':
      return replyOf('bounced', 'suppressed', 'denied');
  }
}

const LIST = `
  select o.id, o.state, o.to_addresses as "to", o.cc_addresses as cc, o.subject, o.preview,
         o.submitted_at as "submittedAt", o.send_at as "sendAt", o.stopped_at as "stoppedAt", o.finished_at as "finishedAt",
         o.consent_id as "consentId", o.draft ->> 'id' as "draftId",
         c.status, c.scope, c.reason, c.returned, c.decided_at as "decidedAt", c.decided_by as "decidedBy", c.changes,
         c.expires_at as "expiresAt", coalesce(c.held_because, 'not_recorded') as "heldBecause", c.recipients as asked,
         (select coalesce(json_agg(json_build_object('address', r.address, 'status', r.status, 'reply', r.reply,
                                                     'nextAttemptAt', r.next_attempt_at) order by r.number), '[]')
            from outbound_recipient r where r.message_id = o.id) as recipients
    from outbound_message o left join consent c on c.id = o.consent_id
   where o.id in (
     select id from outbound_message where mailbox_id = $1 and state in ('held', 'scheduled')
     union all select id from outbound_message where mailbox_id = $1 and state = 'sending'
     union all
     select f.id from outbound_message f
      where f.mailbox_id = $1 and f.finished_at > $3
        and (f.state = 'denied' or f.consent_id is not null or exists (
          select from outbound_recipient r where r.message_id = f.id and r.status in ('bounced', 'suppressed', 'denied'))))
     and ($2::text is null or o.id < $2)
   order by o.id desc limit $4`;
