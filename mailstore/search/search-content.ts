/**
 * Search over the content of messages. The query is evaluated node by node over sets of UIDs, cheap keys first, so that
 * texts are read only for the remaining candidates. Each leaf is one statement whose text never changes.
 *
 * Texts are compared as substrings without case, against what `searchText` makes of a message (RFC 9051 §6.4.4). One
 * whose text is not yet filled in, was cut, or is that of an earlier version, is searched in its bytes. Highlights are the
 * positions of the words of a search in a text, with the text around them.
 */
import type { ContentQuery } from '@agent-mailbox/mail-store';
import { foldText, lineStart, searchText, type TextQuery, textMatches } from '@agent-mailbox/mail-store/search-text';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { type BlobSource, readBlob } from '#mailstore/blobs/blob-store.ts';
import { MESSAGE_OF_PLACEMENT } from '#mailstore/folders/placements.ts';
import { inBoth, numbersOf, uidArray, uidParameters, uidStatement } from '#mailstore/folders/uid-ranges.ts';

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
    case 'envelope':
      return findText(search, uids, query);
    case 'larger':
    case 'smaller':
    case 'internal-time':
    case 'internal-day':
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

/** Reading texts is the expensive part. */
const LEAF_COSTS: Readonly<Partial<Record<ContentQuery['kind'], number>>> = {
  uids: 0,
  envelope: 2,
  header: 2,
  body: 3,
  text: 3,
};

function cost(query: ContentQuery): number {
  if (query.kind === 'and' || query.kind === 'or') return Math.max(0, ...query.of.map(cost));
  if (query.kind === 'not') return cost(query.of);
  return LEAF_COSTS[query.kind] ?? 1;
}

const cheapFirst = (queries: readonly ContentQuery[]): ContentQuery[] => queries.toSorted((a, b) => cost(a) - cost(b));

type ColumnQuery = Exclude<ContentQuery, TextQuery | { kind: 'and' | 'or' | 'not' | 'uids' }>;

async function findColumn(search: Search, uids: Uint32Array, query: ColumnQuery): Promise<Uint32Array> {
  switch (query.kind) {
    case 'larger':
      return findUids(search, LARGER, uids, [query.bytes]);
    case 'smaller':
      return findUids(search, SMALLER, uids, [query.bytes]);
    case 'internal-time':
      return findUids(search, BY_INTERNAL_TIME, uids, rangeOf(query));
    case 'internal-day':
      return findUids(search, BY_INTERNAL_DAY, uids, rangeOf(query));
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

interface TextRow {
  readonly uid: number;
  /** Null: the bytes must be read. */
  readonly matches: boolean | null;
}

async function findText(search: Search, uids: Uint32Array, query: TextQuery): Promise<Uint32Array> {
  const needle = foldText(query.text);
  // Every text contains the empty string; for HEADER it asks whether the field exists.
  if (needle === '' && query.kind !== 'header') return uids;
  if (query.kind === 'envelope') return findEnvelope(search, uids, query, needle);
  const values: unknown[] = [search.folderId, search.mailboxId, uidArray(uids)];
  if (query.kind === 'header') values.push(lineStart(query));
  if (needle !== '') values.push(needle);
  const rows = await search.sql.query<TextRow>(textStatementOf(query, needle), values);
  const found = rows.filter(({ matches }) => matches === true).map(({ uid }) => uid);
  const unknown = rows.filter(({ matches }) => matches === null).map(({ uid }) => uid);
  for (const uid of unknown) if (await bytesMatch(search, uid, query, needle)) found.push(uid);
  return Uint32Array.from(found);
}

/** From the index in placements: one row for the whole folder. */
async function findEnvelope(
  search: Search,
  uids: Uint32Array,
  query: Extract<TextQuery, { kind: 'envelope' }>,
  needle: string,
): Promise<Uint32Array> {
  // Behind OR they come in the order of its keys.
  const asked = uids.toSorted();
  const { form, values } = uidParameters(asked);
  const [row] = await search.sql.query<{ found: string | null; unknown: string | null }>(ENVELOPE_CONTAINS[form], [
    search.folderId,
    search.mailboxId,
    ...values,
    lineStart(query),
    needle,
  ]);
  const found = [...inBoth(numbersOf(row?.found ?? null), asked)];
  for (const uid of inBoth(numbersOf(row?.unknown ?? null), asked))
    if (await bytesMatch(search, uid, query, needle)) found.push(uid);
  return Uint32Array.from(found);
}

function textStatementOf({ kind }: Exclude<TextQuery, { kind: 'envelope' }>, needle: string): string {
  switch (kind) {
    case 'body':
      return BODY_CONTAINS;
    case 'text':
      return TEXT_CONTAINS;
    case 'header':
      return needle === '' ? HEADER_PRESENT : HEADER_CONTAINS;
  }
}

/** One message at a time: each may have 30 MiB. */
async function bytesMatch({ sql, mailboxId, folderId }: Search, uid: number, query: TextQuery, needle: string) {
  const [row] = await sql.query<{ blob: Buffer; size: number; parts: PartNode }>(BLOB_OF, [folderId, mailboxId, uid]);
  if (row === undefined) return false;
  return textMatches(searchText(await readBlob(sql, row.blob, 0, row.size), row.parts), query, needle);
}

const PLACEMENTS = `
    from placement p join folder f on f.id = p.folder_id and f.mailbox_id = $2
   where p.folder_id = $1 and p.uid = any($3::bigint[])`;
const MESSAGES = `
    from placement p ${MESSAGE_OF_PLACEMENT}
   where p.folder_id = $1 and p.uid = any($3::bigint[]) and m.mailbox_id = $2`;
const within = (column: string) =>
  `and ($4::timestamptz is null or ${column} >= $4) and ($5::timestamptz is null or ${column} < $5)`;

const LARGER = `select p.uid ${PLACEMENTS} and p.size > $4`;
const SMALLER = `select p.uid ${PLACEMENTS} and p.size < $4`;
const BY_INTERNAL_TIME = `select p.uid ${PLACEMENTS} ${within('p.internal_date')}`;
/** The day in the zone that the date was given in: FETCH INTERNALDATE shows that. */
const INTERNAL_DAY = `(p.internal_date + make_interval(mins => p.internal_offset_minutes))`;
const BY_INTERNAL_DAY = `select p.uid ${PLACEMENTS} ${within(INTERNAL_DAY)}`;
const BY_SAVE_DATE = `select p.uid ${PLACEMENTS} ${within('p.save_date')}`;
const BY_MESSAGE_ID = `select p.uid ${PLACEMENTS} and p.message_id = $4`;
const BY_THREAD_ID = `select p.uid ${MESSAGES} and m.thread_id = $4`;
/** The day in the header's own zone. A message without a Date has no day. */
const SENT_DAY = `(m.sent_at + make_interval(mins => m.sent_offset_minutes))`;
const BY_SENT_DATE = `select p.uid ${MESSAGES} and m.sent_at is not null ${within(SENT_DAY)}`;
const BLOB_OF = `
  select m.blob, m.size, m.parts from placement p ${MESSAGE_OF_PLACEMENT}
   where p.folder_id = $1 and p.uid = $3 and m.mailbox_id = $2`;

/** Rows that match, and those whose bytes must be checked. */
const textStatement = (matches: string, unknown: string) => `
  select uid, matches from (
    select p.uid, case when t.message_id is null then null when ${matches} then true ${unknown} else false end as matches
      from placement p join folder f on f.id = p.folder_id and f.mailbox_id = $2
      left join message_text t on t.message_id = p.message_id
     where p.folder_id = $1 and p.uid = any($3::bigint[])) as looked
   where matches is not false`;
/** `start` is at the start of a line, `needle` in the same line. */
const lineContains = (column: string, start = '$4', needle = '$5') => `
  strpos(${column}, ${needle}) > 0 and strpos(${column}, ${start}) > 0 and exists (
     select from string_to_table(substr(${column}, 2), E'\\n') as line
      where starts_with(E'\\n' || line, ${start}) and strpos(substr(line, length(${start})), ${needle}) > 0)`;
const WHEN_MORE = 'when t.cut or t.fill_again then null';
const BODY_CONTAINS = textStatement('strpos(t.part_headers, $4) > 0 or strpos(t.body, $4) > 0', WHEN_MORE);
const TEXT_CONTAINS = textStatement(
  'strpos(t.header, $4) > 0 or strpos(t.part_headers, $4) > 0 or strpos(t.body, $4) > 0',
  WHEN_MORE,
);
const HEADER_PRESENT = textStatement('strpos(t.header, $4) > 0', '');
const HEADER_CONTAINS = textStatement(lineContains('t.header'), '');
/** Where the placement has no text of its envelope: that of the message, if it is of the current version. */
const ENVELOPE_CONTAINS = uidStatement(
  (condition) => `
  select string_agg(uid::text, ',') filter (where matches) as found,
         string_agg(uid::text, ',') filter (where matches is null) as unknown
    from (
      select p.uid, case
          when p.header_lines is null or p.envelope_text is null then (
            select case when ${lineContains('t.envelope', '$5', '$6')} then true when t.fill_again then null else false end
              from message_text t where t.message_id = p.message_id)
          else ${lineContains('p.envelope_text', '$5', '$6')} end as matches
        from placement p
       where p.folder_id = $1 and ${condition}
         and exists (select from folder f where f.id = $1 and f.mailbox_id = $2)
       order by p.uid) as looked`,
);

export interface Highlight {
  /** A piece of the text. */
  readonly text: string;
  /** Offsets in it, in UTF-16 code units, of the found words: start, and the offset after the end. */
  readonly ranges: readonly (readonly [start: number, end: number])[];
}

const AROUND_CHARACTERS = 80;
const HIGHLIGHTS_MAX = 3;
const WORD = /[\p{L}\p{N}_]+/gu;

/** The words of a search: without those after a minus, and without `or`. */
export const wordsOf = (q: string): string[] => [
  ...new Set(
    [...q.toLowerCase().matchAll(/(-?)("[^"]*"?|\S+)/g)].flatMap(([, minus, term = '']) =>
      minus === '-' || term === 'or' ? [] : [...term.matchAll(WORD)].map(([word]) => word),
    ),
  ),
];

/** At most three pieces of a text around the words; words next to each other share a piece. */
export function highlightsOf(text: string, words: readonly string[]): Highlight[] {
  const wanted = new Set(words);
  const pieces: { start: number; end: number; ranges: [number, number][] }[] = [];
  for (const match of text.matchAll(WORD)) {
    if (!wanted.has(match[0].toLowerCase())) continue;
    const [start, end] = [match.index, match.index + match[0].length];
    const last = pieces.at(-1);
    if (last !== undefined && start <= last.end) {
      last.ranges.push([start, end]);
      last.end = Math.min(text.length, Math.max(last.end, end));
      continue;
    }
    if (pieces.length === HIGHLIGHTS_MAX) break;
    const from = Math.max(last?.end ?? 0, start - AROUND_CHARACTERS);
    pieces.push({ start: from, end: Math.min(text.length, end + AROUND_CHARACTERS), ranges: [[start, end]] });
  }
  return pieces.map(({ start, end, ranges }) => ({
    text: text.slice(start, end).replace(/\s/g, ' ').toWellFormed(),
    ranges: ranges.map(([from, to]) => [from - start, to - start] as const),
  }));
}
