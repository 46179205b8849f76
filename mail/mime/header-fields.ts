/** Header blocks as they stand in the bytes (RFC 5322 §2.2): fields with offsets, values unfolded but not decoded. */
import { HEADER_BLOCK_MAX_BYTES } from '../../domain/mail-limits.ts';

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
    const colon = bytes.indexOf(COLON, fieldStart);
    if (colon < 0 || colon >= at) continue;
    const name = text.toString('latin1', fieldStart, colon).trimEnd();
    if (!FIELD_NAME.test(name)) continue;
    const value = text.toString('latin1', colon + 1, at);
    fields.push({
      name: name.toLowerCase(),
      value: (value.includes('\n') ? value.replace(/\r*\n/g, '') : value).trim(),
      start: fieldStart,
      end: at,
    });
  }
  return fields;
}

const FIELD_NAME = /^[!-9;-~]+$/;

/** Value of the first field of this name (lower-case), or undefined. */
export const firstValue = (fields: readonly HeaderField[], name: string): string | undefined =>
  fields.find((field) => field.name === name)?.value;
