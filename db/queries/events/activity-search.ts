/**
 * Which messages of an organization a text names. Every statement is bounded by an index and by `limit`; newest first.
 * Ids sort by time.
 */

import type { Database, Sql } from '#db/database.ts';
import { firstIdAt, timeOfIdMs } from '#domain/ids.ts';
import type { OutboundState, RecipientStatus } from '#domain/sending/outbound.ts';
import type { Period } from '#domain/webhooks/activity-time.ts';
import type { Actor, EventType } from '#domain/webhooks/event-types.ts';

/** A message as a list shows it. */
export interface MessageHitRow {
  readonly id: string;
  readonly mailboxId: string;
  readonly mailboxAddress: string;
  readonly subject: string;
  readonly from: string | null;
  readonly to: readonly string[];
  readonly at: Date;
  /** Null: it was not submitted. */
  readonly state: OutboundState | null;
  readonly statuses: readonly RecipientStatus[];
  /** The last answer of another host, or the code, about a recipient that does not have the message; null: none. */
  readonly answer: string | null;
  /** Null: it is not stored, or not yet. */
  readonly origin: string | null;
}

const HITS = /* sql */ `
  select i.id, b.id as "mailboxId", b.address as "mailboxAddress", coalesce(o.subject, m.subject) as subject,
         coalesce(o.from_address, m.from_addresses -> 0 ->> 'address', m.envelope_from) as "from",
         case when o.id is null then array(select each ->> 'address' from jsonb_array_elements(m.to_addresses) as each limit 20)
              else array(select address from outbound_recipient where message_id = o.id order by number limit 20) end as "to",
         coalesce(o.submitted_at, m.received_at) as at, m.origin,
         -- Approved, it is released at once.
         case when o.state = 'scheduled' and o.send_at is null and o.stopped_at is null then 'sending' else o.state end as state,
         array(select distinct status from outbound_recipient where message_id = o.id) as statuses,
         (select coalesce(reply, code) from outbound_recipient
           where message_id = o.id and status not in ('sent', 'captured') and coalesce(reply, code) is not null
           order by updated_at desc, number limit 1) as answer
    from unnest($2::text[]) as i (id)
    left join message m on m.id = i.id
    left join outbound_message o on o.id = i.id
    join mailboxes b on b.id = coalesce(o.mailbox_id, m.mailbox_id) and b.organization_id = $1
   where o.id is not null or m.origin <> 'draft'
   order by i.id desc`;

/** Those of these messages that are the organization's; drafts are left out. */
export const messageHits = (sql: Sql, organizationId: string, ids: readonly string[]): Promise<MessageHitRow[]> =>
  sql.query<MessageHitRow>(HITS, [organizationId, ids]);

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

const OF_MAILBOX = /* sql */ `
  select m.id from mailboxes b cross join lateral (
    (select id from message where mailbox_id = b.id and origin <> 'draft' order by id desc limit $3)
    union
    (select id from outbound_message where mailbox_id = b.id order by id desc limit $3)
  ) m
   where b.organization_id = $1 and b.address = $2
   order by m.id desc limit $3`;

/** The newest messages in and from a mailbox, whatever became of it. @param address in lower case */
export const messagesOfMailbox = async (
  sql: Sql,
  organizationId: string,
  address: string,
  limit: number,
): Promise<string[]> => ids(await sql.query(OF_MAILBOX, [organizationId, address, limit]));

const TO_ADDRESS = /* sql */ `
  select distinct message_id as id from outbound_recipient
   where organization_id = $1 and lower(address) = $2
   order by id desc limit $3`;

/** Messages that were submitted to an address, held ones too. @param address in lower case */
export const messagesToAddress = async (
  sql: Sql,
  organizationId: string,
  address: string,
  limit: number,
): Promise<string[]> => ids(await sql.query(TO_ADDRESS, [organizationId, address, limit]));

const HELD_WITH_WORDS = /* sql */ `
  select message_id as id from consent
   where organization_id = $1 and status = 'pending'
     and to_tsvector('simple', subject) @@ websearch_to_tsquery('simple', $2)
   order by message_id desc limit $3`;

const WITH_WORDS = /* sql */ `
  select m.id from message_text t join message m on m.id = t.message_id
    join mailboxes b on b.id = m.mailbox_id and b.organization_id = $1
   where t.words @@ websearch_to_tsquery('simple', $2)
   order by m.id desc limit $3`;

const WITHIN = /* sql */ `
  select m.id from mailboxes b cross join lateral (
    (select id from message where mailbox_id = b.id and origin <> 'draft' and id >= $2 and id < $3 order by id desc limit $4)
    union
    (select id from outbound_message where mailbox_id = b.id and id >= $2 and id < $3 order by id desc limit $4)
  ) m
   where b.organization_id = $1
   order by m.id desc limit $4`;

/** The newest messages of a period. */
export const messagesWithin = async (
  sql: Sql,
  organizationId: string,
  { since, until }: Period,
  limit: number,
): Promise<string[]> => {
  const [from, to] = [firstIdAt('message', since.getTime()), firstIdAt('message', until.getTime())];
  return ids(await sql.query(WITHIN, [organizationId, from, to, limit]));
};

const SEARCH_WITHIN_MS = 3_000;
const QUERY_CANCELED = '57014';

const isTooSlow = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === QUERY_CANCELED;

/**
 * Messages whose subject, addresses or text have all these words.
 *
 * @returns undefined if the words occur in so many messages that the search would take too long
 */
export async function messagesWithWords(
  db: Database,
  organizationId: string,
  words: string,
  limit: number,
): Promise<string[] | undefined> {
  const values = [organizationId, words, limit];
  try {
    return await db.transaction(async (sql) => {
      await sql.query(`select set_config('statement_timeout', $1, true)`, [String(SEARCH_WITHIN_MS)]);
      const held = ids(await sql.query(HELD_WITH_WORDS, values));
      return [...held, ...ids(await sql.query(WITH_WORDS, values))];
    });
  } catch (error) {
    if (isTooSlow(error)) return undefined;
    throw error;
  }
}

const WITH_MESSAGE_ID = /* sql */ `
  select m.id from thread_ref r join mailboxes b on b.id = r.mailbox_id
    join message m on m.mailbox_id = r.mailbox_id and m.thread_id = r.thread_id
   where r.mailbox_id = any(array(select id from mailboxes where organization_id = $1)) and r.ref_hash = decode($2, 'hex')
     and b.organization_id = $1 and m.message_id_header = $3
   order by m.id desc limit $4`;

/** Messages with a Message-ID header. @param refHash by which threads know it, hexadecimal */
export const messagesWithMessageId = async (
  sql: Sql,
  organizationId: string,
  refHash: string,
  messageIdHeader: string,
  limit: number,
): Promise<string[]> => ids(await sql.query(WITH_MESSAGE_ID, [organizationId, refHash, messageIdHeader, limit]));

export const messageOfConsent = async (
  sql: Sql,
  organizationId: string,
  consentId: string,
): Promise<string | undefined> => {
  const [row] = await sql.query<{ id: string }>(
    `select message_id as id from consent where organization_id = $1 and id = $2`,
    [organizationId, consentId],
  );
  return row?.id;
};

export interface EventRow {
  readonly id: string;
  readonly type: EventType;
  readonly mailboxId: string | null;
  readonly messageId: string | null;
  readonly occurredAt: Date;
  readonly actor: Actor | null;
}

const EVENT = /* sql */ `
  select id, type, mailbox_id as "mailboxId", message_id as "messageId", occurred_at as "occurredAt",
         payload::json -> 'actor' as actor`;

export async function findEvent(sql: Sql, organizationId: string, eventId: string): Promise<EventRow | undefined> {
  const [row] = await sql.query<EventRow>(`${EVENT} from events where id = $2 and organization_id = $1`, [
    organizationId,
    eventId,
  ]);
  return row;
}

export async function eventOfDelivery(
  sql: Sql,
  organizationId: string,
  deliveryId: string,
): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string }>(
    `select event_id as id from deliveries where id = $2 and organization_id = $1`,
    [organizationId, deliveryId],
  );
  return row?.id;
}

const CLOCKS_APART_MS = 3_600_000;

/** What happened about a message, oldest first. */
export const eventsOfMessage = (
  sql: Sql,
  organizationId: string,
  messageId: string,
  limit: number,
): Promise<EventRow[]> =>
  // An event is not older than its message: partitions of earlier days are left alone.
  sql.query<EventRow>(
    `${EVENT} from events where message_id = $2 and organization_id = $1 and id >= $3 order by id limit $4`,
    [organizationId, messageId, firstIdAt('event', (timeOfIdMs(messageId) ?? 0) - CLOCKS_APART_MS), limit],
  );
