/**
 * Reads messages of many mailboxes: all of an organization, those of a group, or those that a key has access to.
 *
 *   mailboxes ─▶ their newest messages, by the index of ids ─▶ those that pass the filter ─▶ again, further back, until
 *                                                                                            the page is full
 *
 * The number of messages examined for a page is limited. If few of them match the filter, a page may be shorter than
 * requested, or empty, and still have a next page.
 */
import { storableText } from '@agent-mailbox/mime-structure/charset';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import type { Sql } from '#db/database.ts';
import { JUNK_LABELS } from '#domain/mail/mail-flags.ts';
import type { Reach } from '#domain/organizations/mailboxes.ts';
import {
  type Candidates,
  type FilledPage,
  fillPage,
  filterValues,
  MESSAGE_COLUMNS,
  MESSAGE_FILTERS,
  MESSAGE_STATE,
  type MessageFilter,
  type MessageRow,
  messageOf,
  type PageOfMessages,
  type StoredMessage,
  type StoredMessageContent,
} from './read-messages.ts';
import { shown, summaryOf, THREAD_SUMMARY, type ThreadRow, type ThreadSummary } from './read-threads.ts';

/** Selects mailboxes of one organization. */
export interface MailboxScope {
  readonly organizationId: string;
  readonly reach: Reach;
  readonly group?: string;
  readonly mailboxId?: string;
}

/** The newest of these are searched for words without the index. */
const SEARCHED_NEAR = 1_000;

/** Ids of the mailboxes, in no order. */
export async function mailboxesInScope(
  sql: Sql,
  { organizationId, reach, group, mailboxId }: MailboxScope,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(MAILBOXES, [organizationId, reach, group ?? null, mailboxId ?? null]);
  return rows.map(({ id }) => id);
}

const MAILBOXES = `
  select x.id from mailboxes x
   where x.organization_id = $1 and x.deleted_at is null and ($2::text[] is null or x.group_name = any($2))
     and ($3::text is null or x.group_name = $3) and ($4::text is null or x.id = $4)`;

/** Whether one of the mailboxes has a folder of this name, in any case of letters. */
export async function someHasFolder(sql: Sql, mailboxIds: readonly string[], name: string): Promise<boolean> {
  const [row] = await sql.query(
    `select 1 from folder where mailbox_id = any($1::text[]) and name_key = $2 and deleted_at is null limit 1`,
    [mailboxIds, name.normalize('NFC').toLowerCase()],
  );
  return row !== undefined;
}

/**
 * The newest messages of mailboxes, from the index alone. The newest `$3` messages are in those `$3` mailboxes whose
 * newest message is most recent. `$1` mailboxes, `$2` after.
 */
const NEWEST = `
  with heads as materialized (
    select x.id as mailbox_id from unnest($1::text[]) as x (id) cross join lateral (
      select id from message where mailbox_id = x.id and ($2::text is null or id < $2) order by id desc limit 1) as head
     order by head.id desc limit $3)
  select m.id from heads cross join lateral (
    select id from message where mailbox_id = heads.mailbox_id and ($2::text is null or id < $2)
     order by id desc limit $3) as m
   order by m.id desc limit $3`;

const newestOf =
  (sql: Sql, mailboxIds: readonly string[]): Candidates =>
  (before, count) =>
    sql.query<{ id: string }>(NEWEST, [mailboxIds, before, count]);

/** Newest first. Junk is left out, unless a folder or label is asked for. */
export async function listMessagesAcross(
  sql: Sql,
  mailboxIds: readonly string[],
  filter: MessageFilter,
  page: PageOfMessages,
): Promise<FilledPage<StoredMessage>> {
  const within =
    filter.unread === true
      ? (await sql.query<{ id: string }>(WITH_UNREAD, [mailboxIds])).map(({ id }) => id)
      : mailboxIds;
  return fillPage({
    page,
    candidates: newestOf(sql, within),
    passing: async (ids) => (await sql.query<MessageRow>(PASSING, [ids, null, ...filterValues(filter)])).map(messageOf),
    idOf: ({ id }) => id,
  });
}

const WITH_UNREAD = `
  select distinct mailbox_id as id from folder
   where mailbox_id = any($1::text[]) and deleted_at is null and unseen > 0`;

/** `$1` ids of messages; `$2` is unused, so that the parameters of the filters keep their numbers. */
const PASSING = `
  select ${MESSAGE_COLUMNS} from message m ${MESSAGE_STATE}
   where m.id = any($1::text[]) and $2::text is null and ${MESSAGE_FILTERS}
   order by m.id desc`;

/**
 * Messages that contain all the words, newest first; junk as above, the words as in `searchMessages`. Frequent words are
 * found among the newest messages; for others the index of words names few.
 */
export async function searchMessagesAcross(
  sql: Sql,
  mailboxIds: readonly string[],
  { q, folder }: { readonly q: string; readonly folder?: string },
  page: PageOfMessages,
): Promise<FilledPage<StoredMessageContent>> {
  const words = storableText(q);
  const passing = async (ids: readonly string[]): Promise<StoredMessageContent[]> => {
    const rows = await sql.query<MessageRow & { blob: Buffer; parts: PartNode }>(WITH_WORDS, [
      ids,
      words,
      folder?.normalize('NFC').toLowerCase() ?? null,
      folder === undefined ? JUNK_LABELS : [],
    ]);
    return rows.map((row) => ({ ...messageOf(row), blob: row.blob, parts: row.parts }));
  };
  const idOf = ({ id }: StoredMessageContent): string => id;
  const near = await fillPage({ page, candidates: newestOf(sql, mailboxIds), passing, idOf, most: SEARCHED_NEAR });
  const limit = page.limit - near.rows.length;
  if (limit === 0 || near.next === null) return near;
  const far = await fillPage({
    page: { limit, after: near.next },
    candidates: (before, count) => sql.query<{ id: string }>(FOUND, [mailboxIds, before, words, count]),
    passing,
    idOf,
  });
  return { rows: [...near.rows, ...far.rows], next: far.next };
}

const WITH_WORDS = `
  select ${MESSAGE_COLUMNS}, m.blob, m.parts from message m join message_text t on t.message_id = m.id ${MESSAGE_STATE}
   where m.id = any($1::text[]) and state.placements > 0 and t.words @@ websearch_to_tsquery('simple', $2)
     and ($3::text is null or $3 = any(state.folder_keys))
     and not (state.labels && $4::text[])
   order by m.id desc`;

const FOUND = `
  select m.id from message_text t join message m on m.id = t.message_id
   where t.words @@ websearch_to_tsquery('simple', $3) and m.mailbox_id = any($1::text[])
     and ($2::text is null or m.id < $2)
   order by m.id desc limit $4`;

/** Threads of each mailbox, by their newest message. */
export const listThreadsAcross = (
  sql: Sql,
  mailboxIds: readonly string[],
  page: PageOfMessages,
): Promise<FilledPage<ThreadSummary>> =>
  fillPage({
    page,
    candidates: newestOf(sql, mailboxIds),
    passing: async (ids) => (await sql.query<ThreadRow>(THREADS, [ids, JUNK_LABELS])).map(summaryOf),
    idOf: ({ newestMessageId }) => newestMessageId,
  });

const THREADS = `
  with newest as materialized (
    select m.* from message m
     where m.id = any($1::text[]) and ${shown('m')}
       and not exists (select from message n
                        where n.mailbox_id = m.mailbox_id and n.thread_id = m.thread_id and n.id > m.id and ${shown('n')})
  ) ${THREAD_SUMMARY}`;

export interface MailboxGroup {
  /** Null: mailboxes without a group. */
  readonly name: string | null;
  readonly mailboxes: number;
  /** Messages in their INBOX folders that are not seen. */
  readonly unread: number;
}

/** By name, those without a group last. */
export async function mailboxGroups(sql: Sql, organizationId: string, reach: Reach, limit: number) {
  const rows = await sql.query<{ name: string | null; mailboxes: number; unread: number }>(GROUPS, [
    organizationId,
    reach,
  ]);
  const unread = rows.reduce((sum, row) => sum + Number(row.unread), 0);
  const groups = rows.slice(0, limit).map((row): MailboxGroup => ({ ...row, unread: Number(row.unread) }));
  return { groups, unread };
}

const GROUPS = `
  select x.group_name as name, count(*)::int as mailboxes, coalesce(sum(f.unseen), 0) as unread
    from mailboxes x
    left join folder f on f.mailbox_id = x.id and f.special_use = '\\Inbox' and f.deleted_at is null
   where x.organization_id = $1 and x.deleted_at is null and ($2::text[] is null or x.group_name = any($2))
   group by x.group_name order by x.group_name nulls last`;
