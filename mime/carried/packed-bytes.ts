/**
 * What bytes say as text: UTF-8, UTF-16, packed by gzip, zlib, ZIP or tar, or in between other bytes. Bounded in depth and
 * size, because they are a stranger's.
 */
import { gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/** What a failure costs, which may have unpacked much before it. */
const FAILURE_BYTES = 65_536;
const DEPTH_MAX = 3;
const FILES_MAX = 50;
/** Shorter runs of letters are there by chance. */
const RUN_MIN_CHARACTERS = 6;

/** What may be unpacked, all together. */
export interface UnpackingLimits {
  left: number;
  /** Something was not unpacked, because it is too much. */
  cut: boolean;
}

/** Texts in the bytes; empty: there are none. */
export function textsIn(bytes: Buffer, budget: UnpackingLimits, depth = 0): string {
  if (bytes.length === 0) return '';
  if (depth < DEPTH_MAX) {
    const packed = unpacked(bytes, budget);
    if (packed !== undefined) return packed.map((each) => textsIn(each, budget, depth + 1)).join('\n');
  }
  return utf16(bytes) ?? utf8(bytes) ?? runsIn(bytes);
}

/** Text without characters that no text has; undefined: it is none. */
export function plainTextOf(bytes: Buffer): string | undefined {
  const wide = utf16(bytes);
  if (wide !== undefined) return wide;
  const text = bytes.toString('utf8');
  const strange = text.match(STRANGE)?.length ?? 0;
  if (strange * 8 > text.length) return undefined;
  return strange === 0 ? text : text.replace(STRANGE, ' ');
}
const STRANGE = /[\x00-\x08\x0e-\x1f\x7f\ufffd]/g;

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function utf8(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return UTF_8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** With a mark of the order of bytes, or with most of every other byte 0. */
function utf16(bytes: Buffer): string | undefined {
  if (bytes.length < 8) return undefined;
  const sample = bytes.subarray(0, 1_024);
  const zeros = [0, 0];
  for (const [i, byte] of sample.entries()) if (byte === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const isLittle = (bytes[0] === 0xff && bytes[1] === 0xfe) || (odd * 4 > sample.length && even * 16 < sample.length);
  const isBig = (bytes[0] === 0xfe && bytes[1] === 0xff) || (even * 4 > sample.length && odd * 16 < sample.length);
  if (!isLittle && !isBig) return undefined;
  const whole = Buffer.from(bytes.subarray(0, bytes.length & ~1));
  return (isLittle ? whole : whole.swap16()).toString('utf16le');
}

/** Readable characters between others, such as those of a picture's comment. */
function runsIn(bytes: Buffer): string {
  const latin = bytes.toString('latin1');
  const found: string[] = [];
  for (const [run] of latin.matchAll(READABLE)) if (run.length >= RUN_MIN_CHARACTERS) found.push(run);
  // Letters of other scripts, too: what is not UTF-8 there becomes a blank.
  return `${found.join('\n')}\n${bytes.length > 65_536 ? '' : bytes.toString('utf8').replace(STRANGE, ' ')}`;
}
const READABLE = /[\t\r\n\x20-\x7e\xa0-\xff]+/g;

function unpacked(bytes: Buffer, budget: UnpackingLimits): Buffer[] | undefined {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return inflated(gunzipSync, bytes, budget);
  // RFC 1950: deflate with a window of at most 32 KiB, and a checksum.
  if (((bytes[0] ?? 0) & 0x8f) === 8 && (bytes.length < 2 ? 1 : bytes.readUInt16BE(0) % 31) === 0)
    return inflated(inflateSync, bytes, budget);
  if (bytes.length > 30 && bytes.readUInt32LE(0) === 0x04034b50) return unzipped(bytes, budget);
  if (bytes.length >= 512 && bytes.toString('latin1', 257, 262) === 'ustar') return untarred(bytes);
  return undefined;
}

function inflated(inflate: typeof gunzipSync, bytes: Buffer, budget: UnpackingLimits): Buffer[] | undefined {
  if (budget.left <= 0) {
    budget.cut = true;
    return undefined;
  }
  try {
    const content = inflate(bytes, { maxOutputLength: budget.left, finishFlush: 2 });
    budget.left -= content.length;
    return [content];
  } catch (error) {
    const isTooMuch = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    budget.left = isTooMuch ? 0 : budget.left - FAILURE_BYTES;
    budget.cut ||= isTooMuch;
    return undefined;
  }
}

/** By the headers of its files, one after the other (APPNOTE 4.3.7); those without a length end at the next. */
function unzipped(bytes: Buffer, budget: UnpackingLimits): Buffer[] {
  const files: Buffer[] = [];
  let at = 0;
  while (at + 30 <= bytes.length && bytes.readUInt32LE(at) === 0x04034b50 && files.length < FILES_MAX) {
    const method = bytes.readUInt16LE(at + 8);
    const nameLength = bytes.readUInt16LE(at + 26);
    const start = at + 30 + nameLength + bytes.readUInt16LE(at + 28);
    const length = bytes.readUInt32LE(at + 18);
    files.push(bytes.subarray(at + 30, at + 30 + nameLength));
    const next = length > 0 ? start + length : nextHeader(bytes, start);
    const content = bytes.subarray(start, next);
    if (method === 0) files.push(content);
    else if (method === 8) files.push(...(inflated(inflateRawSync, content, budget) ?? []));
    at = bytes.length >= next + 30 && bytes.readUInt32LE(next) !== 0x04034b50 ? nextHeader(bytes, next) : next;
  }
  return files;
}

function nextHeader(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(Buffer.of(0x50, 0x4b, 3, 4), from);
  return at < 0 ? bytes.length : at;
}

/** Names and contents (POSIX.1-1988 ustar). */
function untarred(bytes: Buffer): Buffer[] {
  const files: Buffer[] = [];
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0 && files.length < FILES_MAX * 2; ) {
    const size = Number.parseInt(bytes.toString('latin1', at + 124, at + 136).trim(), 8);
    if (!(size >= 0)) break;
    files.push(bytes.subarray(at, at + 100), bytes.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
