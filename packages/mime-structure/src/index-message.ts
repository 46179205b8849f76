/**
 * The offset tree of a message: where each MIME part's header and body stand in the bytes, and what it is.
 *
 * Made once when a message is stored, kept as jsonb beside it, and used by everything that reads parts: sections of
 * IMAP, attachments of REST, text extraction. Limits (depth, parts, header block) turn what lies beyond into opaque
 * leaves; the bytes are served all the same. Damaged mail always gives a tree.
 */
import { findBodyStart, firstValue, type HeaderField, headerFields, nextLine, trimRaw } from './header-fields.ts';
import { HEADER_BLOCK_MAX_BYTES, MIME_DEPTH_MAX, MIME_PARTS_MAX } from './limits.ts';
import { type Parameter, type ParameterizedValue, parameter, parseParameterized, stripComments } from './parameters.ts';
import { isIdentity } from './transfer-encoding.ts';

/** One part. Offsets are bytes from the beginning of the message. Stored as jsonb: absent fields are not stored. */
export interface PartNode {
  /** First byte of the part's header. */
  readonly header: number;
  /** First byte of its body, behind the empty line. */
  readonly body: number;
  /** Behind its last byte; the line break before a boundary belongs to the boundary. */
  readonly end: number;
  /** Line breaks in the body. */
  readonly lines: number;
  /** Lower-cased. */
  readonly type: string;
  readonly subtype: string;
  /** Parameters of Content-Type; texts as in {@link StoredParameter}. */
  readonly params?: readonly StoredParameter[];
  /** Lower-cased Content-Transfer-Encoding. */
  readonly encoding: string;
  readonly disposition?: { readonly value: string; readonly params?: readonly StoredParameter[] };
  /** Content-ID as written, with its angle brackets. */
  readonly id?: string;
  readonly description?: string;
  readonly language?: readonly string[];
  readonly location?: string;
  readonly md5?: string;
  /** Decoded file name of disposition or type. */
  readonly filename?: string;
  /** Parts of a multipart; the one message of a message/rfc822. */
  readonly parts?: readonly PartNode[];
  /** A limit was reached or it is damaged: a multipart or message shown as a leaf. */
  readonly opaque?: true;
  /** Of the whole message only: bytes it grows by when sent in lines that all end with CRLF. Absent: none. */
  readonly wireGrowth?: number;
}

/** Name and bytes as written (one character per byte); or name, decoded text and 1 where RFC 2231 encoded it. */
export type StoredParameter = readonly [name: string, raw: string] | readonly [name: string, text: string, extended: 1];

const LF = 0x0a;
const CR = 0x0d;
const HYPHEN = 0x2d;
/** As long as a line may be (RFC 5322 §2.1.1); RFC 2046 wants at most 70 characters. */
export const BOUNDARY_MAX = 998;
/** How far into a multipart with a wrong boundary the right one is looked for. */
export const BOUNDARY_GUESS_MAX_BYTES = 65_536;

/** What all parts of a message share while it is read. */
interface Reading {
  /** Parts that may still be read. */
  budget: number;
  readonly depthMax: number;
  readonly countLines: LineCounter;
}

/**
 * Makes the tree. Never throws. Each level of multiparts is one native search through its bytes, the rest is linear.
 *
 * @param depthMax levels that are read; what is deeper is a leaf
 */
export function indexMessage(bytes: Uint8Array, depthMax: number = MIME_DEPTH_MAX): PartNode {
  const reading = { budget: MIME_PARTS_MAX, depthMax, countLines: lineCounter(bytes) };
  const root = indexPart(bytes, 0, bytes.length, 0, 'text/plain', reading);
  const growth = wireGrowth(bytes);
  return growth === 0 ? root : { ...root, wireGrowth: growth };
}

type LineCounter = (start: number, end: number) => number;

const LINE_BLOCK_BYTES = 4_096;

/** Counts line breaks between two offsets after one pass: nested parts would else count the same lines again. */
function lineCounter(bytes: Uint8Array): LineCounter {
  const within = (start: number, end: number): number => {
    let lines = 0;
    for (let at = start; at < end; at++) if (bytes[at] === LF) lines++;
    return lines;
  };
  const before = new Uint32Array(Math.floor(bytes.length / LINE_BLOCK_BYTES) + 1);
  for (let block = 1; block < before.length; block++) {
    const end = block * LINE_BLOCK_BYTES;
    before[block] = (before[block - 1] ?? 0) + within(end - LINE_BLOCK_BYTES, end);
  }
  const upTo = (offset: number): number => {
    const block = Math.floor(offset / LINE_BLOCK_BYTES);
    return (before[block] ?? 0) + within(block * LINE_BLOCK_BYTES, offset);
  };
  return (start, end) => (end - start < LINE_BLOCK_BYTES ? within(start, end) : upTo(end) - upTo(start));
}

const storedParameters = (parameters: readonly Parameter[]): StoredParameter[] =>
  parameters.map(({ name, raw, text, extended }) =>
    extended ? [name, text.replaceAll('\0', '').toWellFormed(), 1] : [name, raw.replaceAll('\0', '')],
  );

const TOKEN = /^[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+$/;

const MEDIA_TYPE = /^([!#$%&'*+.0-9A-Z^_`a-z{|}~-]+)[ \t]*\/[ \t]*([!#$%&'*+.0-9A-Z^_`a-z{|}~-]+)/;

/** Type and subtype, lower-cased. None: the default of the place; one that cannot be read: text (RFC 2045 §5.2). */
function mediaType(value: string, fallback: string): [string, string] {
  const [, type = 'text', subtype = 'plain'] = MEDIA_TYPE.exec(value === '' ? fallback : value) ?? [];
  return [type.toLowerCase(), subtype.toLowerCase()];
}

function indexPart(
  bytes: Uint8Array,
  start: number,
  end: number,
  depth: number,
  fallback: string,
  reading: Reading,
): PartNode {
  reading.budget--;
  const body = findBodyStart(bytes, start, end);
  const fields = headerFields(bytes, start, body);
  const contentType = firstValue(fields, 'content-type');
  const parsed = parseParameterized(contentType ?? '');
  const [type, subtype] = mediaType(parsed.value, fallback);
  const encoding = encodingOf(fields);
  const composite = type === 'multipart' || (type === 'message' && (subtype === 'rfc822' || subtype === 'global'));
  const readable = depth < reading.depthMax && reading.budget > 0 && body - start <= HEADER_BLOCK_MAX_BYTES;
  let parts: PartNode[] | undefined;
  // No multipart may be encoded (RFC 2045 §6.4). Many say they are, and are not: their delimiters can be seen.
  if (composite && readable && type === 'multipart')
    parts = indexMultipart(bytes, body, end, depth, rawBoundary(parsed), subtype, reading);
  else if (composite && readable && isIdentity(encoding))
    parts = [indexPart(bytes, body, end, depth + 1, 'text/plain', reading)];
  return {
    header: start,
    body,
    end,
    lines: reading.countLines(body, end),
    type,
    subtype,
    ...(parsed.parameters.length > 0 ? { params: storedParameters(parsed.parameters) } : {}),
    encoding,
    ...describe(fields, parameter(parsed, 'name')),
    ...(parts === undefined ? {} : { parts }),
    ...(composite && parts === undefined ? { opaque: true as const } : {}),
  };
}

/** The delimiter must match byte for byte, so the boundary is never decoded. */
const rawBoundary = (parsed: ParameterizedValue): string | undefined =>
  parsed.parameters.find(({ name }) => name === 'boundary')?.raw;

function encodingOf(fields: readonly HeaderField[]): string {
  const value = parseParameterized(firstValue(fields, 'content-transfer-encoding') ?? '').value.toLowerCase();
  return TOKEN.test(value) ? value : '7bit';
}

/** Fields a part may have beside type and encoding, left out where absent. */
function describe(fields: readonly HeaderField[], typeName: string | undefined) {
  const raw = (name: string) => firstValue(fields, name)?.replaceAll('\0', '') || undefined;
  const dispositionHeader = raw('content-disposition');
  const disposition = dispositionHeader === undefined ? undefined : parseParameterized(dispositionHeader);
  const id = raw('content-id');
  const description = raw('content-description');
  const language = stripComments(raw('content-language') ?? '')
    .split(',')
    .map(trimRaw)
    .filter((tag) => tag !== '');
  const location = raw('content-location')?.replace(/[ \t\r\n]+/g, '');
  const md5 = raw('content-md5');
  const filename = safeFilename(
    (disposition === undefined ? undefined : parameter(disposition, 'filename')) ?? typeName ?? '',
  );
  return {
    ...(disposition === undefined || !TOKEN.test(disposition.value)
      ? {}
      : {
          disposition: {
            value: disposition.value.toLowerCase(),
            ...(disposition.parameters.length > 0 ? { params: storedParameters(disposition.parameters) } : {}),
          },
        }),
    ...(id === undefined ? {} : { id }),
    ...(description === undefined ? {} : { description }),
    ...(language.length === 0 ? {} : { language }),
    ...(location === undefined ? {} : { location }),
    ...(md5 === undefined ? {} : { md5 }),
    ...(filename === '' ? {} : { filename }),
  };
}

/**
 * RFC 2046 §5.1.1. Where the boundary is missing or never occurs, the first line is taken for one that looks like it.
 * Undefined: there is none; then the multipart is a leaf.
 */
function indexMultipart(
  bytes: Uint8Array,
  body: number,
  end: number,
  depth: number,
  boundary: string | undefined,
  subtype: string,
  reading: Reading,
): PartNode[] | undefined {
  const fallback = subtype === 'digest' ? 'message/rfc822' : 'text/plain';
  const declared = boundary === '' || (boundary?.length ?? 0) > BOUNDARY_MAX ? undefined : boundary;
  const parts = declared === undefined ? [] : partsBetween(bytes, body, end, depth, declared, fallback, reading);
  if (parts.length > 0) return parts;
  const guessed = guessBoundary(bytes, body, end);
  if (guessed === undefined || guessed === declared || reading.budget <= 0) return undefined;
  const found = partsBetween(bytes, body, end, depth, guessed, fallback, reading);
  return found.length > 0 ? found : undefined;
}

/** A line of two hyphens and a boundary, with a header field of a part behind it. */
function guessBoundary(bytes: Uint8Array, start: number, end: number): string | undefined {
  const limit = Math.min(end, start + BOUNDARY_GUESS_MAX_BYTES);
  for (let at = start; at < limit; ) {
    const next = nextLine(bytes, at, limit);
    if (bytes[at] === HYPHEN && bytes[at + 1] === HYPHEN && next - at <= BOUNDARY_MAX + 4) {
      const boundary = trimRaw(latin1(bytes, at + 2, next));
      const behind = latin1(bytes, next, Math.min(limit, next + FIELD_LOOKED_AT_BYTES));
      if (boundary !== '' && /^content-[a-z-]{2,40}:/i.test(behind)) return boundary;
    }
    at = next;
  }
  return undefined;
}
const FIELD_LOOKED_AT_BYTES = 64;

const latin1 = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');

function partsBetween(
  bytes: Uint8Array,
  body: number,
  end: number,
  depth: number,
  boundary: string,
  fallback: string,
  reading: Reading,
): PartNode[] {
  const parts: PartNode[] = [];
  let open: number | undefined;
  for (const delimiter of delimiters(bytes, body, end, boundary)) {
    if (open !== undefined) {
      if (reading.budget <= 0) return parts;
      parts.push(indexPart(bytes, open, Math.max(open, delimiter.start), depth + 1, fallback, reading));
    }
    open = delimiter.last ? undefined : delimiter.end;
    if (delimiter.last) break;
  }
  // No closing delimiter: the last part runs to the end.
  if (open !== undefined && reading.budget > 0) parts.push(indexPart(bytes, open, end, depth + 1, fallback, reading));
  return parts;
}

/** RFC 2046 §5.1.1, `bcharsnospace`. */
const IN_BOUNDARY = /[\w'()+,./:=?-]/;

interface Delimiter {
  /** Where the part before it ends: its line break counts to the delimiter. */
  readonly start: number;
  /** Behind its line. */
  readonly end: number;
  readonly last: boolean;
}

function* delimiters(bytes: Uint8Array, start: number, end: number, boundary: string): Generator<Delimiter> {
  // Up to the end of this part: each of many parts would else look through the whole message for its boundary.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, end);
  const mark = Buffer.from(`--${boundary}`, 'latin1');
  let at = text.indexOf(mark, start);
  while (at >= 0) {
    const lineEnd = nextLine(bytes, at, end);
    if (at === start || bytes[at - 1] === LF) {
      let rest = at + mark.length;
      const last = bytes[rest] === HYPHEN && bytes[rest + 1] === HYPHEN && rest + 2 <= end;
      if (last) rest += 2;
      while (rest < lineEnd && (bytes[rest] === 0x20 || bytes[rest] === 0x09)) rest++;
      // Behind the closing one some senders go on, as in `--b-->`; what may stand in a boundary makes it another one.
      const ends = rest >= lineEnd || bytes[rest] === CR || bytes[rest] === LF;
      if (ends || (last && !IN_BOUNDARY.test(String.fromCharCode(bytes[rest] ?? 0)))) {
        const before =
          at > start && bytes[at - 1] === LF ? (bytes[at - 2] === CR && at - 2 >= start ? at - 2 : at - 1) : at;
        yield { start: before, end: lineEnd, last };
      }
    }
    at = text.indexOf(mark, Math.max(lineEnd, at + 1));
  }
}

export const NAME_MAX_CHARACTERS = 255;
/** Control characters, and those that turn the direction of what stands beside them. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** The last part of a path, on one line, at most 255 characters; empty where nothing is left that names a file. */
export function safeFilename(given: string): string {
  const line = given.toWellFormed().replace(UNSAFE, ' ');
  const base = line.slice(Math.max(line.lastIndexOf('/'), line.lastIndexOf('\\')) + 1).trim();
  return /^\.*$/.test(base) ? '' : base.slice(0, NAME_MAX_CHARACTERS).trim().toWellFormed();
}

/**
 * Lines as line protocols send them end with CRLF, the last one too (RFC 1939 §3, RFC 5321 §2.3.8).
 *
 * @returns bytes by which a message grows when bare line feeds become CRLF and an unfinished last line is ended
 */
export function wireGrowth(bytes: Uint8Array): number {
  if (bytes.length === 0) return 0;
  let growth = bytes.at(-1) === LF ? 0 : 2;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) if (bytes[at - 1] !== CR) growth++;
  return growth;
}
