/** Outgoing mail of all organizations that is not finished. Never content. */
import type { Sql } from '#db/database.ts';

export interface QueuedMail {
  readonly id: string;
  readonly organizationId: string;
  /** `held` for consent, `scheduled`, or `sending`; `stopped` if a person stopped the sending of its mailbox, `on hold` if an operator stopped it. */
  readonly state: string;
  readonly from: string;
  readonly submittedAt: Date;
  readonly messageId: string;
  /** That are not finished. */
  readonly recipients: readonly {
    readonly address: string;
    readonly nextAttemptAt: string | null;
    readonly reply: string | null;
  }[];
}

export interface MailQueue {
  readonly count: number;
  /** Oldest first. */
  readonly messages: readonly QueuedMail[];
}

/** @param to only with an open recipient of this domain or address, in lower case; null: all */
export async function readQueue(sql: Sql, to: string | null, limit: number): Promise<MailQueue> {
  const messages = await sql.query<QueuedMail>(`${LIST} order by o.id limit $2`, [to, limit]);
  const [{ count } = { count: 0 }] = await sql.query<{ count: number }>(
    `select count(*)::int as count from (${LIST}) as waiting`,
    [to],
  );
  return { count, messages };
}

/** By the index of what is due, which has the rows that are not finished only. */
const LIST = `
  select o.id, o.organization_id as "organizationId", case when o.on_hold_since is not null then 'on hold' when o.stopped_at is not null then 'stopped' else o.state end as state,
         x.address as from, o.submitted_at as "submittedAt", o.message_id_header as "messageId", r.recipients
    from outbound_message o join mailboxes x on x.id = o.mailbox_id
    cross join lateral (
      select json_agg(json_build_object('address', address, 'nextAttemptAt', next_attempt_at, 'reply', reply) order by number)
               as recipients,
             bool_or(lower(address) = $1 or lower(split_part(address, '@', -1)) = $1) as is_wanted
        from outbound_recipient where message_id = o.id and status in ('queued', 'sending')) as r
   where o.state in ('held', 'scheduled', 'sending') and r.recipients is not null and ($1::text is null or r.is_wanted)`;
