/** Threads of a mailbox, by their newest message. */

import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import type { Sql } from '#db/database.ts';
import { JUNK_LABELS, MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { messagesOfThreads, type StoredMessage } from './read-messages.ts';

/** A thread as lists show it. Junk does not count. */
export interface ThreadSummary {
  readonly id: string;
  readonly mailboxId: string;
  /** Of its newest message. */
  readonly subject: string;
  readonly preview: string;
  readonly messageCount: number;
  readonly unreadCount: number;
  /** The authors, each once, oldest first. */
  readonly senders: readonly MailAddress[];
  readonly newestMessageId: string;
  readonly newestAt: Date;
}

export interface Thread extends ThreadSummary {
  /** The newest of them, oldest first. */
  readonly messages: readonly StoredMessage[];
}

export interface ThreadRow {
  readonly thread_id: string;
  readonly mailbox_id: string;
  readonly newest_id: string;
  readonly newest_at: Date;
  readonly subject: string;
  readonly preview: string;
  readonly message_count: number;
  readonly unread_count: number;
  readonly senders: readonly MailAddress[];
}

const THREAD_MESSAGES_MAX = 200;

/** @param page `limit + 1` threads are read; `after` is the newest message of the last thread before */
export async function listThreads(
  sql: Sql,
  mailboxId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<ThreadSummary[]> {
  const rows = await sql.query<ThreadRow>(LIST_THREADS, [mailboxId, JUNK_LABELS, page.after, page.limit + 1]);
  return rows.map(summaryOf);
}

/** Undefined when the mailbox has no such thread, or nothing but junk in it. */
export async function findThread(sql: Sql, mailboxId: string, threadId: string): Promise<Thread | undefined> {
  const [row] = await sql.query<ThreadRow>(FIND_THREAD, [mailboxId, JUNK_LABELS, threadId]);
  if (row === undefined) return undefined;
  const messages = await messagesOfThreads(sql, mailboxId, [threadId], THREAD_MESSAGES_MAX);
  return { ...summaryOf(row), messages: messages.toReversed() };
}

export const summaryOf = (row: ThreadRow): ThreadSummary => ({
  id: row.thread_id,
  mailboxId: row.mailbox_id,
  subject: row.subject,
  preview: row.preview,
  messageCount: row.message_count,
  unreadCount: row.unread_count,
  senders: row.senders,
  newestMessageId: row.newest_id,
  newestAt: row.newest_at,
});

/** Whether a message has a placement, and none that makes it junk; `$2` labels of junk. */
export const shown = (message: string) => `
  exists (select from placement p join folder f on f.id = p.folder_id
           where p.message_id = ${message}.id and f.deleted_at is null)
  and not exists (
    select from placement p join placement_state s on s.folder_id = p.folder_id and s.uid = p.uid
     where p.message_id = ${message}.id and s.keywords && $2::text[])`;

/** What lists show of the threads whose newest messages are the rows of `newest`. */
export const THREAD_SUMMARY = `
  select m.thread_id, m.mailbox_id, m.id as newest_id, m.received_at as newest_at, m.subject, m.preview, whole.*
    from newest m cross join lateral (
      select count(*) as message_count, count(*) filter (where not each.seen) as unread_count,
             (select coalesce(json_agg(sender order by first), '[]')
                from (select e.sender, min(e.id) as first
                        from (select n.id, n.from_addresses -> 0 as sender from message n
                               where n.mailbox_id = m.mailbox_id and n.thread_id = m.thread_id and ${shown('n')}) as e
                       where e.sender is not null group by e.sender order by first limit 20) as once) as senders
        from (select (select bool_and(s.flags & ${MAIL_FLAGS.seen} <> 0)
                        from placement p join placement_state s on s.folder_id = p.folder_id and s.uid = p.uid
                       where p.message_id = n.id) as seen
                from message n where n.mailbox_id = m.mailbox_id and n.thread_id = m.thread_id and ${shown('n')}) as each
    ) as whole
   order by m.id desc`;

/**
 * The newest message of each thread is found along the index of ids, so that the cost of a page depends only on its
 * size.
 */
const LIST_THREADS = `
  with newest as materialized (
    select m.* from message m
     where m.mailbox_id = $1 and ($3::text is null or m.id < $3) and ${shown('m')}
       and not exists (select from message n
                        where n.mailbox_id = $1 and n.thread_id = m.thread_id and n.id > m.id and ${shown('n')})
     order by m.id desc limit $4
  ) ${THREAD_SUMMARY}`;

const FIND_THREAD = `
  with newest as materialized (
    select m.* from message m where m.mailbox_id = $1 and m.thread_id = $3 and ${shown('m')} order by m.id desc limit 1
  ) ${THREAD_SUMMARY}`;
