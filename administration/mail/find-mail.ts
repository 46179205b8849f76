/**
 * Every step of mail across all organizations, by an address, a Message-ID or an id: from messages, outgoing mail with
 * its recipients and attempts, and refusals (`core/platform/mail-log`). Bounded by time, since ids sort by it; by an
 * address outside, only envelopes are searched.
 */
import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import { deliveryAddress } from '#domain/mail/mailbox-address.ts';

export interface MailStep {
  readonly at: Date;
  /** Of the message, or of the refusal. */
  readonly id: string;
  readonly organizationId: string | null;
  readonly step: 'received' | 'submitted' | 'recipient' | 'attempt' | 'refusal';
  readonly outcome: string;
  readonly from: string | null;
  readonly to: readonly string[];
  readonly messageId: string | null;
  /** What more is known: verdicts, destination, answers; of a refusal the line of the mail log. */
  readonly details: Readonly<Record<string, unknown>>;
}

export interface FoundMail {
  /** Oldest first. */
  readonly steps: readonly MailStep[];
  /** There are more than were read. */
  readonly more: boolean;
}

interface Period {
  readonly since: Date;
  readonly until: Date;
}

/** Messages, and refusals, that one answer has at most. */
export const FOUND_MAIL_MAX = 500;

export async function findMail(sql: Sql, wanted: string, { since, until }: Period): Promise<FoundMail> {
  const text = wanted.trim().toLowerCase();
  const bare = text.replace(/^<|>$/g, '');
  const address = bare.includes('@') ? deliveryAddress(bare) : bare;
  const keys = [...new Set([text, bare, `<${bare}>`, address])];
  const [from, to] = [firstIdAt('message', since.getTime()), firstIdAt('message', until.getTime() + 1)];
  const limit = FOUND_MAIL_MAX + 1;
  const ids = await sql.query<{ id: string }>(MESSAGE_IDS, [keys, from, to, limit]);
  const sent = await sql.query<{ id: string }>(OUTBOUND_IDS, [keys, from, to, limit]);
  const found = [...new Set([...ids, ...sent].map(({ id }) => id))].toSorted().slice(-FOUND_MAIL_MAX);
  const parts = [
    await sql.query<MailStep>(RECEIVED, [found]),
    await sql.query<MailStep>(SUBMITTED, [found]),
    await sql.query<MailStep>(RECIPIENTS, [found]),
    await sql.query<MailStep>(ATTEMPTS, [found]),
    await sql.query<MailStep>(REFUSALS, [keys, since, until, limit]),
  ];
  return {
    steps: parts.flat().toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    more: ids.length === limit || sent.length === limit || (parts.at(-1)?.length ?? 0) === limit,
  };
}

/** The newest are first. Drafts and appended copies are no mail that came or went. */
const MESSAGE_IDS = `
  select m.id from message m join mailboxes x on x.id = m.mailbox_id
   where m.id >= $2 and m.id < $3 and m.origin in ('smtp', 'local', 'system')
     and (m.id = any($1) or lower(m.message_id_header) = any($1) or lower(m.envelope_from) = any($1)
          or x.address = any($1) or x.id = any($1))
   order by m.id desc limit $4`;

const OUTBOUND_IDS = `
  select o.id from outbound_message o join mailboxes x on x.id = o.mailbox_id
   where o.id >= $2 and o.id < $3
     and (o.id = any($1) or lower(o.message_id_header) = any($1) or x.address = any($1) or x.id = any($1)
          or exists (select from outbound_recipient r where r.message_id = o.id and lower(r.address) = any($1)))
   order by o.id desc limit $4`;

const RECEIVED = `
  select m.received_at as at, m.id, x.organization_id as "organizationId", 'received' as step, 'accepted' as outcome,
         m.envelope_from as from, array[coalesce(nullif(m.delivered_to, ''), x.address)] as to,
         m.message_id_header as "messageId",
         jsonb_strip_nulls(jsonb_build_object('mailboxId', x.id, 'size', m.size, 'origin', m.origin,
           'spf', m.auth #>> '{spf,result}', 'dkim', m.auth #>> '{dkim,result}', 'dmarc', m.auth #>> '{dmarc,result}'))
           as details
    from message m join mailboxes x on x.id = m.mailbox_id
   where m.id = any($1) and m.origin in ('smtp', 'local', 'system')`;

const SUBMITTED = `
  select o.submitted_at as at, o.id, o.organization_id as "organizationId", 'submitted' as step, o.state as outcome,
         x.address as from, array(select r.address from outbound_recipient r where r.message_id = o.id order by r.number) as to,
         o.message_id_header as "messageId",
         jsonb_strip_nulls(jsonb_build_object('mailboxId', o.mailbox_id, 'size', o.size, 'via', o.via,
           'consentId', o.consent_id, 'sendAt', o.send_at, 'stoppedAt', o.stopped_at, 'finishedAt', o.finished_at)) as details
    from outbound_message o join mailboxes x on x.id = o.mailbox_id where o.id = any($1)`;

const RECIPIENTS = `
  select r.updated_at as at, o.id, o.organization_id as "organizationId", 'recipient' as step, r.status as outcome,
         x.address as from, array[r.address] as to, o.message_id_header as "messageId",
         jsonb_strip_nulls(jsonb_build_object('code', r.code, 'reply', r.reply, 'local', r.local,
           'nextAttemptAt', case when r.status = 'queued' then r.next_attempt_at end)) as details
    from outbound_recipient r join outbound_message o on o.id = r.message_id join mailboxes x on x.id = o.mailbox_id
   where r.message_id = any($1)`;

const ATTEMPTS = `
  select coalesce(a.finished_at, a.started_at) as at, o.id, o.organization_id as "organizationId", 'attempt' as step,
         coalesce(a.outcome, 'in flight') as outcome, x.address as from, a.recipients as to,
         o.message_id_header as "messageId",
         jsonb_strip_nulls(jsonb_build_object('destination', a.destination, 'attempt', a.number, 'transport', a.transport,
           'startedAt', a.started_at, 'reply', a.reply)) as details
    from outbound_attempt a join outbound_message o on o.id = a.message_id join mailboxes x on x.id = o.mailbox_id
   where a.message_id = any($1)`;

const REFUSALS = `
  select at, id, organization_id as "organizationId", 'refusal' as step, line ->> 'outcome' as outcome,
         line ->> 'from' as from, array(select jsonb_array_elements_text(coalesce(line -> 'to', '[]'))) as to,
         line ->> 'messageId' as "messageId", line as details
    from mail_refusal where (keys && $1 or id = any($1)) and at >= $2 and at <= $3 order by at desc limit $4`;
