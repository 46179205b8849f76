/**
 * Messages as lists show them, from the index in their placements. A portion is one row with a column for each kind of
 * value, in binary form: rows of their own would cost several times as much to send and to decode.
 */
import type { ListedMessages } from '@agent-mailbox/mail-store';
import { copyLines, isListed, type WantedFields, wantedFields } from '@agent-mailbox/mail-store/header-index';
import { readAhead } from '@agent-mailbox/mail-store/read-ahead';
import type { ByteSource } from '#db/database.ts';
import { uidParameters, uidStatement } from '#mailstore/folders/uid-ranges.ts';
import { binaryInt2s, binaryInt4s, binaryInt8s, binaryTimes } from './binary-arrays.ts';

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
): AsyncGenerator<ListedMessages> => readAhead(portions(source, mailboxId, folderId, uids, fields));

async function* portions(
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
