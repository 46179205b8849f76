/**
 * Whether the mailbox, or the key that sends, read mail lately of a sender whom nobody released: such mail may have told it
 * what to send.
 *
 *   read with any token of the mailbox, read with the API key that sends, or brought to an endpoint by a webhook
 *     ─▶ not the organization's own, not approved, not on an allow list, not released in its thread
 *     ─▶ a person is asked about mail to anybody but that sender
 *
 * A list of allowed senders and an approval are about mail that is proven to be the author's.
 */
import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import { READ_NOTED_AGAIN_SECONDS, UNKNOWN_SENDERS_SHOWN_MAX } from '#domain/sending/unknown-senders.ts';
import type { AuthenticationResults } from '#mailstore/delivery/authentication-results.ts';
import { senderOf } from '#mailstore/messages/note-read-senders.ts';

export interface UnknownSender {
  /** In lower case; empty: the mail names none, or several. */
  readonly address: string;
  /** ISO 8601. */
  readonly readAt: string;
}

export interface ReadingQuestion {
  readonly organizationId: string;
  readonly mailboxId: string;
  /** The API key that sends; null: a token of the mailbox. */
  readonly keyId: string | null;
  readonly minutes: number;
  readonly now: Date;
}

/** Mail that came by webhook since then is looked through up to this number, newest first. */
const PUSHED_MAX = 200;

/** Latest first. */
export async function unknownSendersRead(sql: Sql, question: ReadingQuestion): Promise<UnknownSender[]> {
  const since = new Date(question.now.getTime() - (question.minutes * 60 + READ_NOTED_AGAIN_SECONDS) * 1_000);
  const pushed = await pushedSince(sql, question.mailboxId, question.organizationId, since);
  const rows = await sql.query<{ address: string; readAt: Date }>(UNKNOWN, [
    question.organizationId,
    question.mailboxId,
    question.keyId ?? '',
    since,
    JSON.stringify(pushed),
    UNKNOWN_SENDERS_SHOWN_MAX,
  ]);
  return rows.map(({ address, readAt }) => ({ address, readAt: readAt.toISOString() }));
}

interface PushedRow {
  readonly threadId: string;
  readonly origin: 'smtp' | 'local';
  readonly from: readonly MailAddress[];
  readonly auth: AuthenticationResults | null;
  readonly receivedAt: Date;
}

/** Received mail of which an endpoint got an event, which has its subject and its beginning. */
async function pushedSince(sql: Sql, mailboxId: string, organizationId: string, since: Date) {
  const rows = await sql.query<PushedRow>(PUSHED, [
    mailboxId,
    organizationId,
    firstIdAt('message', since.getTime()),
    PUSHED_MAX,
  ]);
  return rows.flatMap(({ receivedAt, ...row }) => {
    const sender = senderOf({ ...row, mailboxId });
    return sender === undefined ? [] : [{ ...sender, read_at: receivedAt }];
  });
}

const PUSHED = `
  select m.thread_id as "threadId", m.origin, m.from_addresses as "from", m.auth, m.received_at as "receivedAt"
    from message m
   where m.mailbox_id = $1 and m.id >= $3 and m.origin in ('smtp', 'local')
     and exists (
       select from webhook_endpoints e
        where e.organization_id = $2 and e.active and e.deleted_at is null and (e.mailbox_id is null or e.mailbox_id = $1)
          and e.event_types && '{email_received}'::text[])
   order by m.id desc limit $4`;

const UNKNOWN = `
  with read as (
    select r.mailbox_id, r.author, r.proven, r.thread_id, r.read_at from sender_read r
     where (r.mailbox_id = $2 or (r.reader = $3 and r.reader <> '')) and r.read_at > $4
    union all
    select g.mailbox_id, g.author, g.proven, g.thread_id, g.read_at
      from json_to_recordset($5::json) as g (mailbox_id text, author text, proven bool, thread_id text, read_at timestamptz)
  )
  select r.author as address, max(r.read_at) as "readAt" from read r
   where not (r.proven and r.author <> '' and (
           exists (select from mailboxes x where x.organization_id = $1 and x.address = r.author and x.deleted_at is null)
           or exists (
             select from known_recipient k where k.organization_id = $1 and k.source = 'approved'
                and (k.kind, k.value) in (('address', r.author), ('domain', split_part(r.author, '@', -1))))
           or exists (
             select from sender_list l
              where l.organization_id = $1 and (l.mailbox_id is null or l.mailbox_id = r.mailbox_id) and l.action = 'allow'
                and l.value in (r.author, split_part(r.author, '@', -1)))))
     and not exists (
       select from released_thread t
        where t.mailbox_id = r.mailbox_id and t.thread_id = r.thread_id and t.author = r.author
          and (r.proven or not t.proven))
   group by r.author order by 2 desc limit $6`;
