/**
 * The lines of the listed header fields of one message (`listed-fields.ts`), packed: HEADER.FIELDS of any of them is
 * answered with these bytes, without the message.
 *
 *     version (1 byte), then for each line: field (1), position among the lines (1), length (2), bytes
 *
 * A list of another version says that the message must be read: its lines are too long, too many, or contain a NUL.
 */
import { type HeaderField, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { listedField } from './listed-fields.ts';

/** Two packed lists, so that most requests need not read the long lines. */
export interface HeaderIndex {
  readonly lines: Buffer;
  readonly longLines: Buffer;
}

const VERSION = 1;
const VERSION_BYTES = 1;
const HEAD_BYTES = 4;
const POSITION_AT = 1;
const LENGTH_AT = 2;
const LINES_MAX_BYTES = 3_072;
const LONG_LINES_MAX_BYTES = 8_192;
const POSITIONS_MAX = 256;
const NOT_LISTED = Buffer.from([0]);
const LF = 0x0a;
const CRLF = Buffer.from('\r\n');

class PackedLines {
  readonly #pieces: Uint8Array[] = [Uint8Array.of(VERSION)];
  readonly #maxBytes: number;
  #size = VERSION_BYTES;
  #listed = true;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(field: number, position: number, line: Uint8Array): void {
    // The last field of a header without an empty line may lack its line break, which HEADER.FIELDS adds.
    const end = line.at(-1) === LF ? 0 : CRLF.length;
    const length = line.length + end;
    this.#size += HEAD_BYTES + length;
    if (this.#size > this.#maxBytes || position >= POSITIONS_MAX || line.includes(0)) this.#listed = false;
    if (!this.#listed) return;
    this.#pieces.push(Uint8Array.of(field, position, length >> 8, length & 0xff), line);
    if (end > 0) this.#pieces.push(CRLF);
  }

  bytes(): Buffer {
    return this.#listed ? Buffer.concat(this.#pieces, this.#size) : NOT_LISTED;
  }
}

/**
 * Never throws; takes time in proportion to the header.
 *
 * @param fields those of the message, where they are known already
 */
export function headerIndex(
  bytes: Uint8Array,
  root: PartNode,
  fields: readonly HeaderField[] = headerFields(bytes, root.header, root.body),
): HeaderIndex {
  const lines = new PackedLines(LINES_MAX_BYTES);
  const longLines = new PackedLines(LONG_LINES_MAX_BYTES);
  let position = 0;
  for (const { name, start, end } of fields) {
    const field = listedField(name);
    if (field === undefined) continue;
    (field.long ? longLines : lines).add(field.number, position, bytes.subarray(start, end));
    position++;
  }
  return { lines: lines.bytes(), longLines: longLines.bytes() };
}

/** Listed fields that are wanted. */
export interface WantedFields {
  /** By the number of the field: 1 if wanted. */
  readonly numbers: Uint8Array;
  /** One of them has long lines. */
  readonly long: boolean;
}

/**
 * @param names lower-cased
 * @returns undefined if one of them is not listed
 */
export function wantedFields(names: readonly string[]): WantedFields | undefined {
  const numbers = new Uint8Array(256);
  let long = false;
  for (const name of names) {
    const field = listedField(name);
    if (field === undefined) return undefined;
    numbers[field.number] = 1;
    long ||= field.long;
  }
  return { numbers, long };
}

/** A packed list in a larger buffer. */
export interface PackedRange {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

/** Whether the lines of a message are in its packed list. */
export const isListed = ({ bytes, from, to }: PackedRange): boolean => to > from && bytes[from] === VERSION;

/**
 * Copies the wanted lines of a message, in the order of its header, to `target`, which has room for all of them.
 *
 * @param long the list of long lines, if one of these is wanted
 * @returns the offset behind them
 */
export function copyLines(
  wanted: WantedFields,
  short: PackedRange,
  long: PackedRange | undefined,
  target: Buffer,
  at: number,
): number {
  if (long === undefined) return copyFrom(wanted, short, target, at);
  let [shortAt, longAt] = [short.from + VERSION_BYTES, long.from + VERSION_BYTES];
  while (shortAt < short.to || longAt < long.to) {
    const fromLong =
      shortAt >= short.to ||
      (longAt < long.to && (long.bytes[longAt + POSITION_AT] ?? 0) < (short.bytes[shortAt + POSITION_AT] ?? 0));
    const [bytes, head] = fromLong ? [long.bytes, longAt] : [short.bytes, shortAt];
    const from = head + HEAD_BYTES;
    const to = from + bytes.readUInt16BE(head + LENGTH_AT);
    if (wanted.numbers[bytes[head] ?? 0] === 1) at += bytes.copy(target, at, from, to);
    if (fromLong) longAt = to;
    else shortAt = to;
  }
  return at;
}

/** The same for one list: most requests come here, for thousands of messages each. */
function copyFrom({ numbers }: WantedFields, { bytes, from, to }: PackedRange, target: Buffer, at: number): number {
  for (let head = from + VERSION_BYTES; head < to; ) {
    const start = head + HEAD_BYTES;
    const end = start + (((bytes[head + LENGTH_AT] ?? 0) << 8) | (bytes[head + LENGTH_AT + 1] ?? 0));
    if (numbers[bytes[head] ?? 0] === 1) at += bytes.copy(target, at, start, end);
    head = end;
  }
  return at;
}
