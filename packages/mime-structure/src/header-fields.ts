/** Header blocks as they stand in the bytes (RFC 5322 §2.2): fields with offsets, values unfolded but not decoded. */
import { HEADER_BLOCK_MAX_BYTES } from './limits.ts';

/** One header field. Texts hold one character per byte (latin1), so nothing of the original is lost. */
export interface HeaderField {
  /** Lower-cased name. */
  readonly name: string;
  /** Value without folding line breaks, trimmed. */
  readonly value: string;
  /** First byte of the name. */
  readonly start: number;
  /** Behind the line break of the last line. */
  readonly end: number;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const COLON = 0x3a;

/** Offset behind the line that starts at `at`, at most `end`. */
export function nextLine(bytes: Uint8Array, at: number, end: number): number {
  const lf = bytes.indexOf(LF, at);
  return lf < 0 || lf >= end ? end : lf + 1;
}

/** Whether the line at `at` is empty: `CRLF`, or the bare `LF` of damaged mail. */
const isEmptyLine = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF);

/**
 * Start of the body: behind the first empty line, or `end` when there is none.
 *
 * @param start first byte of the header block
 * @param end behind the last byte of the part
 */
export function findBodyStart(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end) return end;
  if (isEmptyLine(bytes, start)) return Math.min(end, nextLine(bytes, start, end));
  let at = start;
  while (at < end) {
    at = nextLine(bytes, at, end);
    if (at < end && isEmptyLine(bytes, at)) return nextLine(bytes, at, end);
  }
  return end;
}

/**
 * The fields of a header block, in order. Lines that are neither a field nor a continuation are skipped; of a block
 * above 256 KiB only the beginning is read.
 */
export function headerFields(bytes: Uint8Array, start: number, bodyStart: number): HeaderField[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = Math.min(bodyStart, start + HEADER_BLOCK_MAX_BYTES);
  const fields: HeaderField[] = [];
  let at = start;
  while (at < end && !isEmptyLine(bytes, at)) {
    const fieldStart = at;
    at = nextLine(bytes, at, end);
    while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at = nextLine(bytes, at, end);
    // Within the line alone: a header of many lines without colon must not search the whole message for each.
    const colon = fieldStart + bytes.subarray(fieldStart, at).indexOf(COLON);
    if (colon < fieldStart) continue;
    const name = trimRaw(text.toString('latin1', fieldStart, colon));
    if (!FIELD_NAME.test(name)) continue;
    const value = text.toString('latin1', colon + 1, at);
    fields.push({
      name: name.toLowerCase(),
      value: trimRaw(unfolded(value)),
      start: fieldStart,
      end: at,
    });
  }
  return fields;
}

/** A CR alone is no line break of a header, but of whatever shows the value (RFC 5322 §2.2). */
function unfolded(value: string): string {
  const line = value.includes('\n') ? value.replace(LINE_BREAK, '') : value;
  return line.includes('\r') ? line.replaceAll('\r', ' ') : line;
}

const FIELD_NAME = /^[!-9;-~]+$/;
/** From the first CR of a run: a long run without LF would be walked through again from each of its CRs. */
const LINE_BREAK = /(?<!\r)\r*\n/g;

/**
 * Text of bytes without the white space of mail at its ends. `trim()` would also take the byte A0, which in Latin-1 is
 * a no-break space and in UTF-8 the end of many characters.
 */
export function trimRaw(latin1: string): string {
  let start = 0;
  let end = latin1.length;
  while (start < end && WHITE_SPACE.includes(latin1.charAt(start))) start++;
  while (end > start && WHITE_SPACE.includes(latin1.charAt(end - 1))) end--;
  return latin1.slice(start, end);
}
const WHITE_SPACE = ' \t\r\n';

/** Value of the first field of this name (lower-case), or undefined. */
export const firstValue = (fields: readonly HeaderField[], name: string): string | undefined =>
  fields.find((field) => field.name === name)?.value;

/** Fields that a message has at most once (RFC 5322 §3.6, RFC 2045 §3, RFC 2183 §2). Of two, readers show different ones. */
export const SINGLE_FIELDS: readonly string[] = [
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
];

/** Names (lower-case) of such fields that occur more than once. */
export function repeatedFields(fields: readonly HeaderField[]): string[] {
  const count = Map.groupBy(fields, ({ name }) => name);
  return SINGLE_FIELDS.filter((name) => (count.get(name)?.length ?? 0) > 1);
}

/** Destinations (To, Cc, Bcc) given several times are one list (RFC 5322 §4.5.3). Undefined: there is none. */
export function destinations(fields: readonly HeaderField[], name: 'to' | 'cc' | 'bcc'): string | undefined {
  const values = fields.filter((field) => field.name === name).map(({ value }) => value);
  return values.length === 0 ? undefined : values.join(', ');
}

/** Whether a machine wrote it (RFC 3834 §5). */
export const isAutoSubmitted = (fields: readonly HeaderField[]): boolean =>
  fields.some(({ name, value }) => name === 'auto-submitted' && !/^no\b/i.test(value));
