/**
 * Reads mbox files of any size, one message in memory at a time. Variants: mboxo and mboxrd (lines are quoted), mboxcl and
 * mboxcl2 (Content-Length), and our own lines (`mbox-writer.ts`).
 */
import { hash } from 'node:crypto';
import path from 'node:path';
import { findBodyStart, firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { parseMailDate } from '@agent-mailbox/mime-structure/parse-date';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { isTooDeep, nameOfFile, readFolderFiles } from './folder-files.ts';
import type { MailFiles, OpenFile } from './mail-files.ts';
import { EXPORT_FIELD, isQuotable, STATUS_LETTERS, X_STATUS_LETTERS } from './mbox-writer.ts';
import {
  allLfAsCrlf,
  flagsOf,
  type MovedMessage,
  problem,
  type SourceItem,
  tooBig,
  withCrlf,
} from './moved-message.ts';

/** `mbox`: found for each message. */
export type MboxVariant = 'mbox' | 'mboxo' | 'mboxrd' | 'mboxcl2';

const CHUNK_BYTES = 262_144;
/** A longer line is not looked at as a whole; no separator is that long. */
const LINE_MAX_BYTES = 1_000;
/** Of a message as it is in the file, with what is added there. */
const RAW_MAX_BYTES = MESSAGE_MAX_BYTES + 1_048_576;
const FROM = 'From ';
const OUR_LINES = /^(?:Status|X-Status|X-Keywords):/i;
const OUR_LINES_MAX = 3;

/** Files in any depth. */
export async function* readMbox(source: MailFiles, variant: MboxVariant): AsyncGenerator<SourceItem> {
  const folders = await readFolderFiles(source);
  for (const { file, name, specialUse, subscribed } of folders.values())
    if (file.endsWith('.mbox')) yield { kind: 'folder', name, specialUse: specialUse ?? undefined, subscribed };
  yield* readTree(source, '', variant, (relative) => folders.get(relative)?.name);
}

/** @param name of the file, which names the folder */
export async function* readMboxFile(
  open: () => Promise<OpenFile>,
  name: string,
  variant: MboxVariant,
): AsyncGenerator<SourceItem> {
  yield* readFile(open, name, folderOf(name), variant);
}

async function* readTree(
  source: MailFiles,
  folder: string,
  variant: MboxVariant,
  nameOf: (relative: string) => string | undefined,
): AsyncGenerator<SourceItem> {
  if (isTooDeep(folder)) {
    yield problem(folder, 'folders are too deep here: not read');
    return;
  }
  for (const { relative, kind } of await source.entriesOf(folder)) {
    if (kind === 'folder') yield* readTree(source, relative, variant, nameOf);
    else if (kind === 'link') yield problem(relative, 'is a symbolic link: not followed');
    else if (kind === 'other') yield problem(relative, 'is no regular file: not read');
    else if (!path.basename(relative).startsWith('agent-mailbox-'))
      yield* readFile(() => source.open(relative), relative, nameOf(relative) ?? folderOf(relative), variant);
  }
}

/** `Projects.sbd/2026` and `Projects/2026.mbox` as `Projects/2026`. */
const folderOf = (relative: string): string =>
  relative
    .split('/')
    .map((level) => nameOfFile(level.replace(/\.(?:mbox|sbd)$/i, '')))
    .join('/');

async function* readFile(
  open: () => Promise<OpenFile>,
  shown: string,
  folder: string,
  variant: MboxVariant,
): AsyncGenerator<SourceItem> {
  const handle = await open();
  try {
    if (handle.size === 0) {
      yield { kind: 'folder', name: folder };
      return;
    }
    const start = await handle.read(0, FROM.length);
    if (start.toString('latin1') !== FROM) {
      if (!/\.(?:msf|dat|json|txt)$/i.test(shown))
        yield problem(shown, 'does not begin as an mbox file does: not read');
      return;
    }
    yield { kind: 'folder', name: folder };
    for await (const raw of rawMessages(handle, variant)) {
      const where = `${shown}, byte ${raw.at}`;
      if (raw.size > RAW_MAX_BYTES) yield tooBig(where, raw.size);
      else yield* decoded(raw, { where, folder, variant, fallback: handle.modifiedAt });
    }
  } finally {
    await handle.close();
  }
}

interface Piece {
  readonly bytes: Buffer;
  readonly at: number;
  /** It begins a line, and is not all of it if `ends` is false. */
  readonly begins: boolean;
  readonly ends: boolean;
}

/** Lines; those longer than LINE_MAX_BYTES in pieces. */
async function* linePieces(handle: OpenFile): AsyncGenerator<Piece[]> {
  let at = 0;
  let begins = true;
  let rest = Buffer.alloc(0);
  for (;;) {
    const read = await handle.read(at + rest.length, CHUNK_BYTES);
    const chunk = rest.length === 0 ? read : Buffer.concat([rest, read]);
    const pieces: Piece[] = [];
    let from = 0;
    const add = (end: number, ends: boolean) => {
      pieces.push({ bytes: chunk.subarray(from, end), at: at + from, begins, ends });
      begins = ends;
      from = end;
    };
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) add(end + 1, true);
    if (from < chunk.length && (read.length === 0 || chunk.length - from > LINE_MAX_BYTES)) add(chunk.length, false);
    rest = Buffer.from(chunk.subarray(from));
    at += from;
    yield pieces;
    if (read.length === 0) return;
  }
}

interface RawMessage {
  readonly at: number;
  readonly separator: string;
  /** Without the separator; empty if there are too many bytes. */
  readonly bytes: Buffer;
  readonly size: number;
  /** A Content-Length was right. */
  readonly counted: boolean;
}

/** A separator has a time, or at least a year: a line of text that begins with this word hardly has. */
const SEPARATOR = /^From (?:.*\d{1,2}:\d{2}|.*\b(?:19|20)\d{2}\b)/;

async function* rawMessages(handle: OpenFile, variant: MboxVariant): AsyncGenerator<RawMessage> {
  let current: { at: number; separator: string; chunks: Buffer[]; size: number; inHeader: boolean } | undefined;
  let length: number | undefined;
  let countedEnd: number | undefined;
  let afterBlank = true;
  const ended = (): RawMessage | undefined =>
    current && {
      ...{ at: current.at, separator: current.separator, size: current.size, counted: countedEnd !== undefined },
      bytes: current.size > RAW_MAX_BYTES ? Buffer.alloc(0) : Buffer.concat(current.chunks, current.size),
    };
  for await (const pieces of linePieces(handle))
    for (const { bytes, at, begins, ends } of pieces) {
      const text = begins && bytes.length <= LINE_MAX_BYTES ? bytes.toString('latin1') : '';
      const isBlank = begins && ends && (text === '\n' || text === '\r\n');
      const mayBegin = countedEnd === undefined || at >= countedEnd;
      if (
        mayBegin &&
        begins &&
        (afterBlank || at === countedEnd) &&
        text.startsWith(FROM) &&
        (at === 0 || SEPARATOR.test(text))
      ) {
        const whole = ended();
        if (whole !== undefined) yield whole;
        current = { at, separator: text.trimEnd(), chunks: [], size: 0, inHeader: true };
        [length, countedEnd, afterBlank] = [undefined, undefined, false];
        continue;
      }
      if (current === undefined) continue;
      current.size += bytes.length;
      if (current.size > RAW_MAX_BYTES) current.chunks = [];
      else append(current.chunks, current.size - bytes.length, bytes);
      if (current.inHeader && variant !== 'mboxrd' && variant !== 'mboxo') {
        const given = /^Content-Length:\s*(\d{1,15})\s*$/i.exec(text)?.[1];
        if (given !== undefined) length = Number(given);
        if (isBlank && length !== undefined) {
          const end = at + bytes.length + length;
          if (await endsMessage(handle, end)) countedEnd = end;
        }
      }
      if (isBlank) current.inHeader = false;
      afterBlank = isBlank;
    }
  const last = ended();
  if (last !== undefined) yield last;
}

const BLOCK_BYTES = 65_536;

/** Adds bytes to blocks of one size, the last one filled in part: a message may have millions of lines. */
function append(blocks: Buffer[], size: number, bytes: Buffer): void {
  for (let from = 0; from < bytes.length; ) {
    const at = (size + from) % BLOCK_BYTES;
    if (at === 0) blocks.push(Buffer.allocUnsafe(BLOCK_BYTES));
    from += bytes.copy(blocks.at(-1) ?? Buffer.alloc(0), at, from);
  }
}

/** Whether a message may end here: at the end of the file, or before a separator. */
async function endsMessage(handle: OpenFile, at: number): Promise<boolean> {
  const next = await handle.read(at, 2 + FROM.length);
  if (next.length === 0) return handle.size === at;
  return /^(?:\r?\n)?(?:From |$)/.test(next.toString('latin1'));
}

interface Reading {
  readonly where: string;
  readonly folder: string;
  readonly variant: MboxVariant;
  readonly fallback: Date;
}

function* decoded(raw: RawMessage, { where, folder, variant, fallback }: Reading): Generator<SourceItem> {
  const ours = raw.bytes.subarray(0, EXPORT_FIELD.length + 1).toString('latin1') === `${EXPORT_FIELD}:`;
  const read = ours ? readOurs(raw) : readOthers(raw, variant);
  if (read.bytes.length > MESSAGE_MAX_BYTES) {
    yield tooBig(where, read.bytes.length);
    return;
  }
  if (read.changed === true) yield problem(where, 'is not as it was exported: imported as it is');
  const message: MovedMessage = {
    ...{ kind: 'message', folder, where, bytes: read.bytes, flags: read.flags, keywords: read.keywords },
    date: read.date?.time ?? dateOf(raw.separator, read.bytes) ?? fallback,
    offsetMinutes: read.date?.offsetMinutes ?? 0,
  };
  yield message;
}

interface Read {
  readonly bytes: Buffer;
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly date?: { readonly time: Date; readonly offsetMinutes: number } | undefined;
  readonly changed?: boolean;
}

const statusOf = (value: (name: string) => string | undefined): Pick<Read, 'flags' | 'keywords'> => ({
  flags: flagsOf(value('status') ?? '', STATUS_LETTERS) | flagsOf(value('x-status') ?? '', X_STATUS_LETTERS),
  keywords: (value('x-keywords') ?? '').split(/[\s,]+/).filter((word) => word !== ''),
});

function readOurs({ bytes }: RawMessage): Read {
  const lines: string[] = [];
  let at = 0;
  for (let count = 0; count <= OUR_LINES_MAX; count++) {
    const end = bytes.indexOf(10, at) + 1;
    if (end === 0 || end - at > 64 * LINE_MAX_BYTES) break;
    const line = bytes.subarray(at, end).toString('latin1').trimEnd();
    if (count > 0 && !OUR_LINES.test(line)) break;
    lines.push(line);
    at = end;
  }
  const value = (name: string) =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  const [, size = '', sha256 = '', eol = '', date = '', offset = ''] =
    /size=(\d{1,9}); sha256=([0-9a-f]{64}); eol=(crlf|as-is); date=([\dT:.Z-]+); offset=(-?\d{1,4})/.exec(
      lines[0] ?? '',
    ) ?? [];
  const plain = unquoted(bytes.subarray(at), 0, 'mboxrd');
  const whole = eol === 'crlf' ? allLfAsCrlf(plain) : plain;
  // A line break may have been added to end the last line, and a blank line follows.
  const exact = whole.subarray(0, Number(size));
  const isExact = hash('sha256', exact) === sha256;
  const time = new Date(date);
  return {
    ...statusOf(value),
    bytes: isExact ? exact : withCrlf(withoutBlankEnd(plain)),
    date: Number.isNaN(time.getTime()) ? undefined : { time, offsetMinutes: Number(offset) },
    changed: !isExact,
  };
}

function readOthers({ bytes: raw, counted }: RawMessage, variant: MboxVariant): Read {
  const bodyStart = findBodyStart(raw, 0, raw.length);
  const fields = headerFields(raw, 0, bodyStart);
  // A counted body may have separators as they are; in one that does not, they are quoted perhaps.
  const isQuoted = variant !== 'mboxcl2' && !(counted && hasBareSeparator(raw, bodyStart));
  const body = isQuoted ? unquoted(raw, bodyStart, variant) : raw;
  return { ...statusOf((name) => firstValue(fields, name)), bytes: withCrlf(withoutBlankEnd(body)) };
}

/** The blank line that separates messages belongs to none of them. */
function withoutBlankEnd(bytes: Buffer): Buffer {
  const end = bytes.subarray(-4).toString('latin1');
  if (end.endsWith('\r\n\r\n')) return bytes.subarray(0, -2);
  return end.endsWith('\n\n') ? bytes.subarray(0, -1) : bytes;
}

function hasBareSeparator(bytes: Buffer, from: number): boolean {
  const at = bytes.indexOf(`\n${FROM}`, Math.max(0, from - 1));
  return at >= 0;
}

/** From `from` on, lines without their quote. */
function unquoted(bytes: Buffer, from: number, variant: MboxVariant): Buffer {
  const whole = Buffer.allocUnsafe(bytes.length);
  let [kept, to] = [0, 0];
  for (let at = from; at < bytes.length; ) {
    if (bytes[at] === 62 && isQuotable(bytes, at) && (variant !== 'mboxo' || bytes[at + 1] !== 62)) {
      to += bytes.copy(whole, to, kept, at);
      kept = at + 1;
    }
    const end = bytes.indexOf(10, at);
    if (end < 0) break;
    at = end + 1;
  }
  if (kept === 0) return bytes;
  to += bytes.copy(whole, to, kept);
  return whole.subarray(0, to);
}

/** Of the separator, which is UTC unless it says otherwise; else of the message's Date. */
function dateOf(separator: string, bytes: Buffer): Date | undefined {
  const given = parseMailDate(separator.replace(/^From \S*\s*/, ''));
  if (given !== undefined) return given.time;
  const fields = headerFields(bytes, 0, findBodyStart(bytes, 0, bytes.length));
  const date = firstValue(fields, 'date');
  return date === undefined ? undefined : parseMailDate(date)?.time;
}
