/**
 * Rows of a folder for FETCH, SORT and lists, in portions, without a cursor or connection between them.
 *
 *   fetchRows        columns of messages, read from the message
 *   listedMessages   header lines of lists, read from the placement alone
 *   sortedUids       SORT by what placements contain: the database sorts, and no row leaves it
 *
 * The last two come by COPY, with arrays of numbers in PostgreSQL's binary format: one dimension, no nulls.
 *
 * Groups at the beginning of address lists, read out of an ENVELOPE as it is stored.
 */
import type {
  ListedMessages,
  MessageColumns,
  MessageRow,
  SortAddress,
  SortKeys,
  SortOrder,
} from '@agent-mailbox/mail-store';
import { copyLines, isListed, type WantedFields, wantedFields } from '@agent-mailbox/mail-store/header-index';
import { readAhead } from '@agent-mailbox/mail-store/read-ahead';
import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { fieldsOf, OPEN, stringAt } from '@agent-mailbox/mime-structure/envelope';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import type { ByteSource, Sql } from '#db/database.ts';
import { MESSAGE_OF_PLACEMENT } from './placements.ts';
import { inBoth, uidArray, uidParameters, uidStatement } from './uid-ranges.ts';

/** Dimensions, flags, type; size and first index of the dimension. An empty array ends after the first three. */
const HEAD_BYTES = 20;
const COUNT_AT = 12;
/** Before each element. */
const LENGTH_BYTES = 4;
/** PostgreSQL counts microseconds from the year 2000. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

function elements<List extends Int16Array | Int32Array | Float64Array>(
  bytes: Buffer | null | undefined,
  size: number,
  make: (count: number) => List,
  read: (bytes: Buffer, at: number) => number,
): List {
  const count = bytes && bytes.length > HEAD_BYTES ? bytes.readInt32BE(COUNT_AT) : 0;
  const list = make(count);
  if (bytes)
    for (let i = 0, at = HEAD_BYTES + LENGTH_BYTES; i < count; i++, at += LENGTH_BYTES + size)
      list[i] = read(bytes, at);
  return list;
}

const int4 = (bytes: Buffer, at: number): number =>
  ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
/** Below 2^53. */
const int8 = (bytes: Buffer, at: number): number => int4(bytes, at) * 2 ** 32 + (int4(bytes, at + 4) >>> 0);

const binaryInt2s = (bytes: Buffer | null | undefined): Int16Array =>
  elements(
    bytes,
    2,
    (count) => new Int16Array(count),
    (each, at) => each.readInt16BE(at),
  );

const binaryInt4s = (bytes: Buffer | null | undefined): Int32Array =>
  elements(bytes, 4, (count) => new Int32Array(count), int4);

const binaryInt8s = (bytes: Buffer | null | undefined): Float64Array =>
  elements(bytes, 8, (count) => new Float64Array(count), int8);

/** Milliseconds since 1970. */
const binaryTimes = (bytes: Buffer | null | undefined): Float64Array =>
  elements(
    bytes,
    8,
    (count) => new Float64Array(count),
    (each, at) => Math.floor(int8(each, at) / 1_000) + EPOCH_MS,
  );

const LIGHT_PORTION = 2_000;
/** Rows with ENVELOPE, BODYSTRUCTURE or offset tree weigh some KB each. */
const HEAVY_PORTION = 400;

interface Row {
  readonly uid: number;
  readonly message_id: string;
  readonly thread_id: string;
  readonly internal_date: Date;
  readonly internal_offset_minutes: number;
  readonly save_date: Date;
  readonly size: number;
  readonly envelope?: Buffer;
  readonly bodystructure?: Buffer;
  readonly parts?: PartNode;
  readonly preview?: string;
  readonly subject?: string;
  readonly first_from?: MailAddress | null;
  readonly first_to?: MailAddress | null;
  readonly first_cc?: MailAddress | null;
  /** Null: no list of addresses has a group. */
  readonly envelope_with_groups?: Buffer | null;
  readonly sent_at?: Date | null;
  readonly message_id_header?: string | null;
}

/** Ascending UIDs; removed ones are omitted. The next portion is read while the caller processes the last one. */
export const fetchRows = (
  sql: Sql,
  mailboxId: string,
  folderId: number,
  uids: Uint32Array,
  want: MessageColumns,
): AsyncGenerator<readonly MessageRow[]> => readAhead(portions(sql, mailboxId, folderId, uids, want));

async function* portions(
  sql: Sql,
  mailboxId: string,
  folderId: number,
  uids: Uint32Array,
  want: MessageColumns,
): AsyncGenerator<readonly MessageRow[]> {
  const text = statementFor(want);
  const size = want.envelope || want.bodyStructure || want.parts ? HEAVY_PORTION : LIGHT_PORTION;
  for (let at = 0; at < uids.length; at += size) {
    const rows = await sql.query<Row>(text, [folderId, mailboxId, uidArray(uids.subarray(at, at + size))]);
    if (rows.length > 0) yield rows.map(rowOf);
  }
}

function rowOf(row: Row): MessageRow {
  return {
    uid: row.uid,
    messageId: row.message_id,
    threadId: row.thread_id,
    internalDate: row.internal_date,
    internalOffsetMinutes: row.internal_offset_minutes,
    saveDate: row.save_date,
    size: row.size,
    ...(row.envelope === undefined ? {} : { envelope: row.envelope }),
    ...(row.bodystructure === undefined ? {} : { bodyStructure: row.bodystructure }),
    ...(row.parts === undefined ? {} : { parts: row.parts }),
    ...(row.preview === undefined ? {} : { preview: row.preview }),
    ...(row.subject === undefined ? {} : { sortKeys: sortKeysOf(row) }),
  };
}

function sortKeysOf(row: Row): SortKeys {
  const { envelope_with_groups: envelope } = row;
  const groups = envelope === null || envelope === undefined ? undefined : leadingGroups(envelope);
  return {
    subject: row.subject ?? '',
    from: sortAddress(row.first_from, groups?.from),
    to: sortAddress(row.first_to, groups?.to),
    cc: sortAddress(row.first_cc, groups?.cc),
    sentAt: row.sent_at ?? null,
    messageIdHeader: Buffer.from(row.message_id_header ?? '').toString('latin1'),
  };
}

/** The first entry as the envelope has it: a group by its name, a local part without quotes. */
function sortAddress(address: MailAddress | null | undefined, group: string | undefined): SortAddress {
  if (group !== undefined) return { name: '', mailbox: group };
  if (address === null || address === undefined) return { name: '', mailbox: '' };
  const at = address.address.lastIndexOf('@');
  if (at < 0) return { name: address.name, mailbox: address.address };
  const local = address.address.slice(0, at);
  const mailbox = /^".*"$/s.test(local) ? local.slice(1, -1).replace(/\\(.)/gs, '$1') : local;
  return { name: address.name, mailbox, host: address.address.slice(at + 1) };
}

/** How a group ends in an ENVELOPE. One without these bytes has no group. */
const GROUP_END = '(NIL NIL NIL NIL)';

const COLUMNS: readonly (readonly [keyof MessageColumns, string])[] = [
  ['envelope', 'm.envelope'],
  ['bodyStructure', 'm.bodystructure'],
  ['parts', 'm.parts'],
  ['preview', 'm.preview'],
  [
    'sortKeys',
    `m.subject, m.from_addresses -> 0 as first_from, m.to_addresses -> 0 as first_to,
     m.cc_addresses -> 0 as first_cc, m.sent_at, m.message_id_header,
     case when position('${GROUP_END}'::bytea in m.envelope) > 0 then m.envelope end as envelope_with_groups`,
  ],
];

/** One of at most 32 texts, so that the statement stays prepared. */
function statementFor(want: MessageColumns): string {
  const columns = COLUMNS.flatMap(([name, column]) => (want[name] ? [column] : []));
  return `
    select p.uid, p.message_id, m.thread_id, p.internal_date, p.internal_offset_minutes, p.save_date, p.size${columns.map((each) => `, ${each}`).join('')}
      from placement p ${MESSAGE_OF_PLACEMENT}
     where p.folder_id = $1 and p.uid = any($3::bigint[]) and m.mailbox_id = $2
     order by p.uid`;
}

/** Bytes of header lines in a portion, as far as the one before tells; the client gets the first one soon. */
const PORTION_BYTES = 524_288;
const FIRST_PORTION = 500;
const PORTION_MAX = 2_000;
/** Rows with long lines may have some KB each. */
const LONG_PORTION_MAX = 500;

/** Ascending UIDs; removed ones are omitted. The next portion is read while the caller processes the last one. */
export const listedMessages = (
  source: ByteSource,
  mailboxId: string,
  folderId: number,
  uids: Uint32Array,
  fields: readonly string[],
): AsyncGenerator<ListedMessages> => readAhead(listedPortions(source, mailboxId, folderId, uids, fields));

async function* listedPortions(
  source: ByteSource,
  mailboxId: string,
  folderId: number,
  uids: Uint32Array,
  fields: readonly string[],
): AsyncGenerator<ListedMessages> {
  const wanted = wantedFields(fields);
  if (wanted === undefined) throw new Error('a header field is not listed');
  let portion = FIRST_PORTION;
  for (let at = 0; at < uids.length; ) {
    const some = uids.subarray(at, at + portion);
    at += some.length;
    const { form, values } = uidParameters(some);
    let listed: ListedMessages | undefined;
    await source.copyRows((wanted.long ? LONG_LISTED : LISTED)[form], [folderId, mailboxId, ...values], (columns) => {
      listed = columns[0] === null ? undefined : decode(columns, some, wanted);
      const bytes = (columns[5]?.length ?? 0) + (columns[7]?.length ?? 0);
      const fitting = Math.floor((PORTION_BYTES * some.length) / Math.max(1, bytes));
      portion = Math.max(100, Math.min(wanted.long ? LONG_PORTION_MAX : PORTION_MAX, fitting));
    });
    if (listed !== undefined) yield listed;
  }
}

function decode(columns: readonly (Buffer | null)[], asked: Uint32Array, wanted: WantedFields): ListedMessages {
  const uids = binaryInt8s(columns[0]);
  const sizes = binaryInt4s(columns[1]);
  const internalDates = binaryTimes(columns[2]);
  const internalOffsets = binaryInt2s(columns[3]);
  const lengths = binaryInt4s(columns[4]);
  const packed = columns[5] ?? Buffer.alloc(0);
  const longLengths = wanted.long ? binaryInt4s(columns[6]) : undefined;
  const longPacked = columns[7] ?? Buffer.alloc(0);
  const count = uids.length;
  const listed = {
    uids: new Uint32Array(count),
    sizes: new Uint32Array(count),
    internalDates: new Float64Array(count),
    internalOffsets: new Int16Array(count),
    indexed: new Uint8Array(count),
    lines: Buffer.allocUnsafe(packed.length + longPacked.length),
    ends: new Uint32Array(count),
  };
  const short = { bytes: packed, from: 0, to: 0 };
  const long = longLengths === undefined ? undefined : { bytes: longPacked, from: 0, to: 0 };
  let [found, askedAt, end] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    short.from = short.to;
    short.to += lengths[i] ?? 0;
    if (long !== undefined) {
      long.from = long.to;
      long.to += longLengths?.[i] ?? 0;
    }
    const uid = uids[i] ?? 0;
    while (askedAt < asked.length && (asked[askedAt] ?? 0) < uid) askedAt++;
    if (asked[askedAt] !== uid) continue;
    listed.uids[found] = uid;
    listed.sizes[found] = sizes[i] ?? 0;
    listed.internalDates[found] = internalDates[i] ?? 0;
    listed.internalOffsets[found] = internalOffsets[i] ?? 0;
    if (isListed(short) && (long === undefined || isListed(long))) {
      listed.indexed[found] = 1;
      end = copyLines(wanted, short, long, listed.lines, end);
    }
    listed.ends[found++] = end;
  }
  return {
    uids: listed.uids.subarray(0, found),
    sizes: listed.sizes.subarray(0, found),
    internalDates: listed.internalDates.subarray(0, found),
    internalOffsets: listed.internalOffsets.subarray(0, found),
    indexed: listed.indexed.subarray(0, found),
    lines: listed.lines.subarray(0, end),
    ends: listed.ends.subarray(0, found),
  };
}

const statement = (columns: string) =>
  uidStatement(
    (condition) => `
  select array_agg(uid), array_agg(size), array_agg(internal_date), array_agg(internal_offset_minutes), ${columns}
    from (select p.uid, p.size, p.internal_date, p.internal_offset_minutes, p.header_lines, p.long_header_lines
            from placement p
           where p.folder_id = $1 and ${condition}
             and exists (select from folder f where f.id = $1 and f.mailbox_id = $2)
           order by p.uid) as listed`,
  );
const packed = (column: string) =>
  `array_agg(coalesce(octet_length(${column}), 0)), string_agg(coalesce(${column}, ''), '')`;
const LISTED = statement(packed('header_lines'));
const LONG_LISTED = statement(`${packed('header_lines')}, ${packed('long_header_lines')}`);

const SORT_COLUMNS: Readonly<Record<SortOrder['key'], string>> = {
  // Without an index of its header, a placement does not know the date of its message.
  date: `coalesce(
    case when p.header_lines is null then (select m.sent_at from message m where m.id = p.message_id) else p.sent_at end,
    p.internal_date)`,
  'internal-date': 'p.internal_date',
  size: 'p.size',
};

/** @see MailboxStore.sorted */
export async function sortedUids(
  source: ByteSource,
  mailboxId: string,
  folderId: number,
  uids: Uint32Array,
  order: readonly SortOrder[],
): Promise<Uint32Array> {
  if (uids.length === 0) return uids;
  const { form, values, others } = uidParameters(uids);
  const keys = order.map(({ key, reverse }) => `${SORT_COLUMNS[key]} ${reverse ? 'desc' : 'asc'}`);
  let sorted: Uint32Array = new Uint32Array(0);
  const statement = uidStatement(
    (condition) => `select array_agg(uid) from (
       select p.uid from placement p
        where p.folder_id = $1 and ${condition}
          and exists (select from folder f where f.id = $1 and f.mailbox_id = $2)
        order by ${[...keys, 'p.uid'].join(', ')}) as ordered`,
  );
  await source.copyRows(statement[form], [folderId, mailboxId, ...values], ([column]) => {
    sorted = Uint32Array.from(binaryInt8s(column));
  });
  if (!others) return sorted;
  const asked = new Set(inBoth(sorted.toSorted(), uids));
  return sorted.filter((uid) => asked.has(uid));
}

/** Where the lists stand there (RFC 9051 §7.5.2). */
const FROM_PLACE = 2;
const TO_PLACE = 5;
const CC_PLACE = 6;

/** Decoded names of the groups that the lists begin with; undefined for a list that begins with an address. */
interface LeadingGroups {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly cc: string | undefined;
}

function leadingGroups(envelope: Uint8Array): LeadingGroups {
  const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.byteLength);
  const { fields } = fieldsOf(bytes, 0);
  const groupOf = (place: number): string | undefined => {
    const start = fields[place]?.[0];
    const first = start !== undefined && bytes[start] === OPEN ? fieldsOf(bytes, start).fields[0] : undefined;
    if (first === undefined) return undefined;
    const [, , mailbox, host] = fieldsOf(bytes, first[0]).fields;
    // A group stands there as an address without host, its name in the place of the mailbox.
    if (mailbox === undefined || host === undefined || stringAt(bytes, host) !== undefined) return undefined;
    const name = stringAt(bytes, mailbox);
    return name === undefined ? undefined : decodeWords(name);
  };
  return { from: groupOf(FROM_PLACE), to: groupOf(TO_PLACE), cc: groupOf(CC_PLACE) };
}
