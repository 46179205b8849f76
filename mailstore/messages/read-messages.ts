/**
 * Reading messages for REST and MCP: rows of a mailbox with the state of all their placements, in pages, newest first, of
 * which only some may be shown.
 */
import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import { storableText } from '@agent-mailbox/mime-structure/charset';
import { type HeaderField, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import type { Sql } from '#db/database.ts';
import { JUNK_LABELS, MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { HEADER_BLOCK_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import type { MessageSignal } from '#domain/mail/message-signals.ts';
import { type BlobSource, readBlob } from '#mailstore/blobs/blob-store.ts';
import type { AuthenticationResults } from '#mailstore/delivery/authentication-results.ts';
import type { MessageOrigin } from '#mailstore/delivery/insert-messages.ts';
import type { LabelledAttachment } from '#mime/attachments.ts';
import type { TextStatus } from '#mime/read-message.ts';

/** A message in lists. Labels and folders are the union over its placements; `seen` is true if all are seen. */
export interface StoredMessage {
  readonly id: string;
  readonly mailboxId: string;
  readonly threadId: string;
  readonly origin: MessageOrigin;
  readonly from: readonly MailAddress[];
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly subject: string;
  readonly preview: string;
  /** The result of reading its text; `due`: not read yet since the service was upgraded. */
  readonly textStatus: TextStatus | 'due';
  readonly receivedAt: Date;
  readonly sentAt: Date | null;
  readonly size: number;
  readonly deliveredTo: string | null;
  readonly messageIdHeader: string | null;
  readonly attachments: readonly LabelledAttachment[];
  readonly auth: AuthenticationResults | null;
  /** Null: it did not come from others, or came before signals were stored. */
  readonly signals: readonly MessageSignal[] | null;
  readonly seen: boolean;
  readonly flagged: boolean;
  readonly answered: boolean;
  readonly draft: boolean;
  readonly labels: readonly string[];
  readonly folders: readonly string[];
}

/** The additional data for reading bytes of a message. */
export interface StoredMessageContent extends StoredMessage {
  readonly blob: Buffer;
  readonly parts: PartNode;
}

export interface MessageFilter {
  /** Folder name, in any case of letters. */
  readonly folder?: string;
  /** Leaves junk out of the folder too. */
  readonly withoutJunk?: boolean;
  readonly label?: string;
  readonly unread?: boolean;
  /** Parts of a name or address, or of the subject; without case. */
  readonly from?: string;
  readonly to?: string;
  readonly subject?: string;
  /** Received at or after. */
  readonly since?: Date;
  /** Received before. */
  readonly until?: Date;
}

export interface MessageRow {
  id: string;
  mailbox_id: string;
  thread_id: string;
  origin: MessageOrigin;
  from_addresses: MailAddress[];
  to_addresses: MailAddress[];
  cc_addresses: MailAddress[];
  subject: string;
  preview: string;
  text_status: TextStatus | 'due';
  received_at: Date;
  sent_at: Date | null;
  size: number;
  delivered_to: string | null;
  message_id_header: string | null;
  attachments: LabelledAttachment[];
  auth: AuthenticationResults | null;
  signals: MessageSignal[] | null;
  all_flags: number;
  any_flags: number;
  labels: string[];
  folders: string[];
}

/** A message without placement (held, or being purged) is not shown. */
export const MESSAGE_COLUMNS = `
  m.id, m.mailbox_id, m.thread_id, m.origin, m.from_addresses, m.to_addresses, m.cc_addresses, m.subject, m.preview, m.text_status,
  m.received_at, m.sent_at, m.size, m.delivered_to, m.message_id_header, m.attachments, m.auth, m.signals,
  state.all_flags, state.any_flags, state.labels, state.folders`;
/**
 * Where message `m` is: placements `p` with state `s` and folder `f`, each found by keys (`offset 0`). A plan that joins
 * them otherwise may be good for a store that is nearly empty, and PostgreSQL keeps it while the store grows.
 */
const PLACED = `
  (select folder_id, uid from placement where message_id = m.id offset 0) p
  cross join lateral (
    select flags, keywords from placement_state where folder_id = p.folder_id and uid = p.uid offset 0) s
  cross join lateral (
    select name, name_key from folder where id = p.folder_id and deleted_at is null offset 0) f`;
export const MESSAGE_STATE = `
  cross join lateral (
    select count(*) as placements, bit_and(s.flags) as all_flags, bit_or(s.flags) as any_flags,
           array(select distinct label from ${PLACED} cross join unnest(s.keywords) as label order by label) as labels,
           array_agg(distinct f.name) as folders, array_agg(f.name_key) as folder_keys
      from ${PLACED}
  ) as state`;

export const messageOf = (row: MessageRow): StoredMessage => ({
  id: row.id,
  mailboxId: row.mailbox_id,
  threadId: row.thread_id,
  origin: row.origin,
  from: row.from_addresses,
  to: row.to_addresses,
  cc: row.cc_addresses,
  subject: row.subject,
  preview: row.preview,
  textStatus: row.text_status,
  receivedAt: row.received_at,
  sentAt: row.sent_at,
  size: row.size,
  deliveredTo: row.delivered_to,
  messageIdHeader: row.message_id_header,
  attachments: row.attachments,
  auth: row.auth,
  signals: row.signals,
  seen: (row.all_flags & MAIL_FLAGS.seen) !== 0,
  flagged: (row.any_flags & MAIL_FLAGS.flagged) !== 0,
  answered: (row.any_flags & MAIL_FLAGS.answered) !== 0,
  draft: (row.any_flags & MAIL_FLAGS.draft) !== 0,
  labels: row.labels,
  folders: row.folders,
});

const likePattern = (text: string | undefined): string | null =>
  text === undefined ? null : `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/**
 * Newest first. Junk (labels `unauthenticated` and `spam`) is left out, unless a folder or label is asked for.
 *
 * @param page `limit + 1` rows are read, so that the caller knows whether there is a next page
 */
export async function listMessages(
  sql: Sql,
  mailboxId: string,
  filter: MessageFilter,
  page: { readonly limit: number; readonly after: string | null },
): Promise<StoredMessage[]> {
  const { rows } = await fillPage({
    page: { limit: page.limit + 1, after: page.after },
    candidates: (before, count) => sql.query<{ id: string }>(NEWEST_OF_MAILBOX, [mailboxId, before, count]),
    passing: async (ids) =>
      (await sql.query<MessageRow>(PASSING_OF_MAILBOX, [ids, mailboxId, ...filterValues(filter), page.limit + 1])).map(
        messageOf,
      ),
    idOf: ({ id }) => id,
    most: Number.POSITIVE_INFINITY,
  });
  return [...rows];
}

export const filterValues = (filter: MessageFilter): unknown[] => [
  filter.folder?.normalize('NFC').toLowerCase() ?? null,
  filter.label?.toLowerCase() ?? null,
  filter.unread ?? null,
  likePattern(filter.from),
  likePattern(filter.to),
  likePattern(filter.subject),
  filter.since ?? null,
  filter.until ?? null,
  filter.withoutJunk === true || (filter.folder === undefined && filter.label === undefined) ? JUNK_LABELS : [],
];

/** Of `filterValues`, at $3. */
export const MESSAGE_FILTERS = `state.placements > 0
     and ($3::text is null or $3 = any(state.folder_keys))
     and ($4::text is null or exists (select from unnest(state.labels) as label where lower(label) = $4))
     and ($5::bool is null or $5 = (state.all_flags & ${MAIL_FLAGS.seen} = 0))
     and ($6::text is null or m.from_addresses::text ilike $6)
     and ($7::text is null or m.to_addresses::text ilike $7 or m.cc_addresses::text ilike $7
          or m.delivered_to ilike $7)
     and ($8::text is null or m.subject ilike $8)
     and ($9::timestamptz is null or m.received_at >= $9)
     and ($10::timestamptz is null or m.received_at < $10)
     and not (state.labels && $11::text[])`;

/**
 * Row by row from the index. With `order by id desc limit`, a PostgreSQL whose statistics are older than the mailbox expects
 * few messages, and reads and sorts all of them for a page.
 */
const NEWEST_OF_MAILBOX = `
  with recursive newest (id, nth) as (
    select (select max(id) from message where mailbox_id = $1 and id < coalesce($2, '~')), 1
    union all
    select (select max(m.id) from message m where m.mailbox_id = $1 and m.id < newest.id), nth + 1
      from newest where newest.id is not null and nth < $3::int)
  select id from newest where id is not null`;
/**
 * In one statement with those before PostgreSQL, which cannot know how many messages pass, would examine the whole
 * mailbox for a page.
 */
const PASSING_OF_MAILBOX = `
  select ${MESSAGE_COLUMNS} from (select * from message where id = any($1::text[]) offset 0) m ${MESSAGE_STATE}
   where m.mailbox_id = $2 and ${MESSAGE_FILTERS}
   order by m.id desc limit $12`;

/**
 * A position in the order in which messages arrived in a mailbox, which is that of their commits; ids have another
 * order.
 */
export interface Arrival {
  readonly seq: number;
  readonly messageId: string;
}

/** After all messages up to this change. */
const LAST_ID = '~';
export const arrivedUpTo = (seq: number): Arrival => ({ seq, messageId: LAST_ID });

/** The position of a message; undefined if the mailbox has no such message, or its row has been deleted. */
export async function arrivalOf(sql: Sql, mailboxId: string, messageId: string): Promise<Arrival | undefined> {
  const [row] = await sql.query<{ seq: number }>(
    `select arrived_seq as seq from message where mailbox_id = $1 and id = $2`,
    [mailboxId, messageId],
  );
  return row === undefined ? undefined : { seq: row.seq, messageId };
}

/** The last committed change of a mailbox. All changes before it are committed too. */
export async function lastChange(sql: Sql, mailboxId: string): Promise<number> {
  const [row] = await sql.query<{ seq: number }>(
    `select change_seq as seq from mailbox_counter where mailbox_id = $1`,
    [mailboxId],
  );
  return row?.seq ?? 0;
}

export interface ArrivedMessage extends StoredMessageContent {
  readonly arrival: Arrival;
}

/**
 * Messages that arrived after a position and up to a change, oldest first. Without a folder only received mail, not
 * mail that the mailbox wrote.
 */
export async function arrivedMessages(
  sql: Sql,
  mailboxId: string,
  filter: MessageFilter,
  { after, upToSeq, limit }: { readonly after: Arrival; readonly upToSeq: number; readonly limit: number },
): Promise<ArrivedMessage[]> {
  const rows = await sql.query<MessageRow & { blob: Buffer; parts: PartNode; arrived_seq: number }>(ARRIVED_MESSAGES, [
    mailboxId,
    after.seq,
    ...filterValues(filter),
    after.messageId,
    upToSeq,
    filter.folder === undefined ? RECEIVED : null,
    limit,
  ]);
  return rows.map((row) => ({
    ...messageOf(row),
    blob: row.blob,
    parts: row.parts,
    arrival: { seq: row.arrived_seq, messageId: row.id },
  }));
}

const RECEIVED: readonly MessageOrigin[] = ['smtp', 'local', 'system'];

const ARRIVED_MESSAGES = `
  select ${MESSAGE_COLUMNS}, m.blob, m.parts, m.arrived_seq from message m ${MESSAGE_STATE}
   where m.mailbox_id = $1 and m.arrived_seq between $2 and $13 and (m.arrived_seq, m.id) > ($2, $12::text)
     and ($14::text[] is null or m.origin = any($14)) and ${MESSAGE_FILTERS}
   order by m.arrived_seq, m.id limit $15`;

export interface MessageSearch {
  /** As people type it: words, "a phrase", -without, or. */
  readonly q: string;
  readonly folder?: string;
}

/**
 * Messages that contain all the words, newest first; junk as in `listMessages`. The words are stored after delivery, in
 * the background.
 */
export async function searchMessages(
  sql: Sql,
  mailboxId: string,
  { q, folder }: MessageSearch,
  page: { readonly limit: number; readonly after: string | null },
): Promise<StoredMessageContent[]> {
  const rows = await sql.query<MessageRow & { blob: Buffer; parts: PartNode }>(SEARCH_MESSAGES, [
    mailboxId,
    page.after,
    storableText(q),
    folder?.normalize('NFC').toLowerCase() ?? null,
    folder === undefined ? JUNK_LABELS : [],
    page.limit + 1,
  ]);
  return rows.map((row) => ({ ...messageOf(row), blob: row.blob, parts: row.parts }));
}

const SEARCH_MESSAGES = `
  select ${MESSAGE_COLUMNS}, m.blob, m.parts from message m join message_text t on t.message_id = m.id ${MESSAGE_STATE}
   where m.mailbox_id = $1 and ($2::text is null or m.id < $2) and state.placements > 0
     and t.words @@ websearch_to_tsquery('simple', $3)
     and ($4::text is null or $4 = any(state.folder_keys))
     and not (state.labels && $5::text[])
   order by m.id desc limit $6`;

/** Messages of threads that are shown: placed somewhere, and no junk. Newest first in each thread. */
export async function messagesOfThreads(
  sql: Sql,
  mailboxId: string,
  threadIds: readonly string[],
  messagesEach: number,
): Promise<StoredMessage[]> {
  const rows = await sql.query<MessageRow>(MESSAGES_OF_THREADS, [mailboxId, threadIds, JUNK_LABELS, messagesEach]);
  return rows.map(messageOf);
}

const MESSAGES_OF_THREADS = `
  select newest.* from unnest($2::text[]) as thread (id) cross join lateral (
    select ${MESSAGE_COLUMNS} from message m ${MESSAGE_STATE}
     where m.mailbox_id = $1 and m.thread_id = thread.id and state.placements > 0 and not (state.labels && $3::text[])
     order by m.id desc limit $4) as newest
   order by newest.id desc`;

/** Undefined when the mailbox has no such message. */
export async function findMessage(sql: Sql, mailboxId: string, id: string): Promise<StoredMessageContent | undefined> {
  const [row] = await sql.query<MessageRow & { blob: Buffer; parts: PartNode }>(FIND_MESSAGE, [mailboxId, id]);
  return row === undefined ? undefined : { ...messageOf(row), blob: row.blob, parts: row.parts };
}

const FIND_MESSAGE = `
  select ${MESSAGE_COLUMNS}, m.blob, m.parts
    from (select * from message where id = $2 offset 0) m ${MESSAGE_STATE}
   where m.mailbox_id = $1 and state.placements > 0`;

/** Those of these messages that are placed somewhere, in no order. */
export async function findMessages(sql: Sql, mailboxId: string, ids: readonly string[]): Promise<StoredMessage[]> {
  return (await sql.query<MessageRow>(FIND_MESSAGES, [mailboxId, ids])).map(messageOf);
}

const FIND_MESSAGES = `
  select ${MESSAGE_COLUMNS} from message m ${MESSAGE_STATE}
   where m.mailbox_id = $1 and m.id = any($2::text[]) and state.placements > 0`;

/** Header fields of a stored message. */
export async function readHeader(
  source: BlobSource,
  { blob, parts }: Pick<StoredMessageContent, 'blob' | 'parts'>,
): Promise<HeaderField[]> {
  const bytes = await readBlob(source, blob, 0, Math.min(parts.body, HEADER_BLOCK_MAX_BYTES));
  return headerFields(bytes, 0, bytes.length);
}

export interface FilledPage<Row> {
  /** Newest first, at most `limit`. */
  readonly rows: readonly Row[];
  /** Where the next page begins: after this message. Null: there is none. */
  readonly next: string | null;
}

export interface PageOfMessages {
  readonly limit: number;
  /** Id of the message after which the page begins. */
  readonly after: string | null;
}

/** Messages that are examined for one page. */
const LOOKED_AT_MAX = 10_000;
/** The first portion is larger than the page, because a few messages may be left out. */
const PORTION_MORE = 16;
const PORTION_GROWTH = 4;
const PORTION_MAX = 5_000;

/** Ids of messages before one (null: the newest), newest first, so many at most; fewer only when there are no more. */
export type Candidates = (before: string | null, count: number) => Promise<readonly { readonly id: string }[]>;

interface Filling<Row> {
  readonly page: PageOfMessages;
  readonly candidates: Candidates;
  /** Of these messages those to be shown, newest first. */
  readonly passing: (ids: readonly string[]) => Promise<readonly Row[]>;
  readonly idOf: (row: Row) => string;
  /** Messages to examine. Default: {@link LOOKED_AT_MAX}. */
  readonly most?: number;
}

/** Examines messages from the newest on, in growing portions, until the page is full. */
export async function fillPage<Row>({
  page,
  candidates,
  passing,
  idOf,
  most = LOOKED_AT_MAX,
}: Filling<Row>): Promise<FilledPage<Row>> {
  const { limit, after } = page;
  const rows: Row[] = [];
  let from = after;
  let portion = limit + PORTION_MORE;
  for (let lookedAt = 0; lookedAt < most; ) {
    const given = await candidates(from, portion);
    const last = given.at(-1);
    if (last === undefined) return { rows, next: null };
    rows.push(...(await passing(given.map(({ id }) => id))));
    const end = rows[limit - 1];
    if (end !== undefined) {
      const more = rows.length > limit || given.length === portion;
      return { rows: rows.slice(0, limit), next: more ? idOf(end) : null };
    }
    if (given.length < portion) return { rows, next: null };
    from = last.id;
    lookedAt += given.length;
    portion = Math.min(PORTION_MAX, portion * PORTION_GROWTH);
  }
  return { rows, next: from };
}
