/**
 * Search over what messages hold. The query is evaluated node by node over sets of UIDs, cheap keys first, so that the
 * texts are read only of messages that are still in question. Each leaf is one statement whose text never changes.
 *
 * Texts are compared as substrings without case, against decoded headers and text (RFC 9051 §6.4.4). A message whose
 * text is not yet filled in, or was cut, is searched in its bytes.
 */
import { type BlobSource, readBlob } from '../../core/blob-store.ts';
import type { PartNode } from '../mime/index-message.ts';
import { messageText } from '../mime/text.ts';
import { foldedHeader, foldText } from './folded-text.ts';
import type { ContentQuery } from './interface.ts';
import { uidArray } from './uid-ranges.ts';

interface Search {
  readonly sql: BlobSource;
  readonly mailboxId: string;
  readonly folderId: number;
}

/** @returns ascending UIDs among `uids` that match */
export async function searchContent(
  sql: BlobSource,
  mailboxId: string,
  folderId: number,
  uids: Uint32Array,
  query: ContentQuery,
): Promise<Uint32Array> {
  return (await evaluate({ sql, mailboxId, folderId }, uids, query)).toSorted();
}

async function evaluate(search: Search, uids: Uint32Array, query: ContentQuery): Promise<Uint32Array> {
  if (uids.length === 0) return uids;
  switch (query.kind) {
    case 'and': {
      let left = uids;
      for (const each of cheapFirst(query.of)) left = await evaluate(search, left, each);
      return left;
    }
    case 'or': {
      let rest = uids;
      const found: number[] = [];
      for (const each of cheapFirst(query.of)) {
        const matching = await evaluate(search, rest, each);
        for (const uid of matching) found.push(uid);
        rest = without(rest, matching);
      }
      return Uint32Array.from(found);
    }
    case 'not':
      return without(uids, await evaluate(search, uids, query.of));
    case 'uids': {
      const wanted = new Set(query.uids);
      return uids.filter((uid) => wanted.has(uid));
    }
    case 'body':
    case 'text':
    case 'header':
      return findText(search, uids, query);
    case 'larger':
    case 'smaller':
    case 'internal-date':
    case 'sent-date':
    case 'save-date':
    case 'message-id':
    case 'thread-id':
      return findColumn(search, uids, query);
  }
}

function without(uids: Uint32Array, taken: Uint32Array): Uint32Array {
  if (taken.length === 0) return uids;
  const set = new Set(taken);
  return uids.filter((uid) => !set.has(uid));
}

/** Reading texts is what costs. */
const LEAF_COSTS: Readonly<Partial<Record<ContentQuery['kind'], number>>> = { uids: 0, header: 2, body: 3, text: 3 };

function cost(query: ContentQuery): number {
  if (query.kind === 'and' || query.kind === 'or') return Math.max(0, ...query.of.map(cost));
  if (query.kind === 'not') return cost(query.of);
  return LEAF_COSTS[query.kind] ?? 1;
}

const cheapFirst = (queries: readonly ContentQuery[]): ContentQuery[] => queries.toSorted((a, b) => cost(a) - cost(b));

type ColumnQuery = Exclude<ContentQuery, { kind: 'and' | 'or' | 'not' | 'uids' | 'body' | 'text' | 'header' }>;

async function findColumn(search: Search, uids: Uint32Array, query: ColumnQuery): Promise<Uint32Array> {
  switch (query.kind) {
    case 'larger':
      return findUids(search, LARGER, uids, [query.bytes]);
    case 'smaller':
      return findUids(search, SMALLER, uids, [query.bytes]);
    case 'internal-date':
      return findUids(search, BY_INTERNAL_DATE, uids, rangeOf(query));
    case 'save-date':
      return findUids(search, BY_SAVE_DATE, uids, rangeOf(query));
    case 'sent-date':
      return findUids(search, BY_SENT_DATE, uids, rangeOf(query));
    case 'message-id':
      return findUids(search, BY_MESSAGE_ID, uids, [query.id]);
    case 'thread-id':
      return findUids(search, BY_THREAD_ID, uids, [query.id]);
  }
}

const rangeOf = ({ from, before }: { from: number | null; before: number | null }) => [
  from === null ? null : new Date(from),
  before === null ? null : new Date(before),
];

async function findUids(
  { sql, mailboxId, folderId }: Search,
  text: string,
  uids: Uint32Array,
  values: readonly unknown[],
): Promise<Uint32Array> {
  const rows = await sql.query<{ uid: number }>(text, [folderId, mailboxId, uidArray(uids), ...values]);
  return Uint32Array.from(rows, ({ uid }) => uid);
}

type TextQuery = Extract<ContentQuery, { kind: 'body' | 'text' | 'header' }>;

interface TextRow {
  readonly uid: number;
  /** Null: the bytes must be looked at. */
  readonly matches: boolean | null;
}

async function findText(search: Search, uids: Uint32Array, query: TextQuery): Promise<Uint32Array> {
  const needle = foldText(query.text);
  if (needle === '' && query.kind !== 'header') return uids;
  const values: unknown[] = [search.folderId, search.mailboxId, uidArray(uids), needle];
  let statement = query.kind === 'body' ? BODY_CONTAINS : TEXT_CONTAINS;
  if (query.kind === 'header') {
    statement = needle === '' ? HEADER_PRESENT : HEADER_CONTAINS;
    values[3] = `\n${query.field.toLowerCase()}:`;
    if (needle !== '') values.push(needle);
  }
  const rows = await search.sql.query<TextRow>(statement, values);
  const found = rows.filter(({ matches }) => matches === true).map(({ uid }) => uid);
  const unknown = rows.filter(({ matches }) => matches === null).map(({ uid }) => uid);
  for (const uid of unknown) if (await matchesBytes(search, uid, query, needle)) found.push(uid);
  return Uint32Array.from(found);
}

/** One message at a time: each may have 25 MiB. */
async function matchesBytes({ sql, mailboxId, folderId }: Search, uid: number, query: TextQuery, needle: string) {
  const [row] = await sql.query<{ blob: Buffer; size: number; parts: PartNode }>(BLOB_OF, [folderId, mailboxId, uid]);
  if (row === undefined) return false;
  const bytes = await readBlob(sql, row.blob, 0, row.size);
  const header = query.kind === 'body' ? '' : foldedHeader(bytes, row.parts);
  if (query.kind === 'header') {
    const start = `\n${query.field.toLowerCase()}:`;
    return header
      .split(/(?=\n)/)
      .some((line) => line.startsWith(start) && (needle === '' || line.slice(start.length).includes(needle)));
  }
  return header.includes(needle) || foldText(messageText(bytes, row.parts).text).includes(needle);
}

const PLACEMENTS = `
    from placement p join folder f on f.id = p.folder_id and f.mailbox_id = $2
   where p.folder_id = $1 and p.uid = any($3::bigint[])`;
const MESSAGES = `
    from placement p join message m on m.id = p.message_id and m.mailbox_id = $2
   where p.folder_id = $1 and p.uid = any($3::bigint[])`;
const within = (column: string) =>
  `and ($4::timestamptz is null or ${column} >= $4) and ($5::timestamptz is null or ${column} < $5)`;

const LARGER = `select p.uid ${PLACEMENTS} and p.size > $4`;
const SMALLER = `select p.uid ${PLACEMENTS} and p.size < $4`;
const BY_INTERNAL_DATE = `select p.uid ${PLACEMENTS} ${within('p.internal_date')}`;
const BY_SAVE_DATE = `select p.uid ${PLACEMENTS} ${within('p.save_date')}`;
const BY_MESSAGE_ID = `select p.uid ${PLACEMENTS} and p.message_id = $4`;
const BY_THREAD_ID = `select p.uid ${MESSAGES} and m.thread_id = $4`;
/** The day as the header names it, whatever its zone. A message without a Date is of no day. */
const SENT_DAY = `(m.sent_at + make_interval(mins => m.sent_offset_minutes))`;
const BY_SENT_DATE = `select p.uid ${MESSAGES} and m.sent_at is not null ${within(SENT_DAY)}`;
const BLOB_OF = `
  select m.blob, m.size, m.parts from placement p join message m on m.id = p.message_id and m.mailbox_id = $2
   where p.folder_id = $1 and p.uid = $3`;

/** Rows that match, and those without a full text, of which only the bytes can tell. */
const textStatement = (matches: string, whenCut: string) => `
  select uid, matches from (
    select p.uid, case when t.message_id is null then null when ${matches} then true ${whenCut} else false end as matches
      from placement p join folder f on f.id = p.folder_id and f.mailbox_id = $2
      left join message_text t on t.message_id = p.message_id
     where p.folder_id = $1 and p.uid = any($3::bigint[])) as looked
   where matches is not false`;
const BODY_CONTAINS = textStatement('strpos(t.body, $4) > 0', 'when t.cut then null');
const TEXT_CONTAINS = textStatement('strpos(t.header, $4) > 0 or strpos(t.body, $4) > 0', 'when t.cut then null');
const HEADER_PRESENT = textStatement('strpos(t.header, $4) > 0', '');
const HEADER_CONTAINS = textStatement(
  `strpos(t.header, $4) > 0 and strpos(t.header, $5) > 0 and exists (
     select from string_to_table(substr(t.header, 2), E'\\n') as line
      where starts_with(E'\\n' || line, $4) and strpos(substr(line, length($4)), $5) > 0)`,
  '',
);
