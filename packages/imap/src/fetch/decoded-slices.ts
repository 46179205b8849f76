/**
 * A large part, decoded slice by slice: an incomplete group or escape at the end of a slice is kept for the next one.
 * Uses memory for two slices, whatever the size of the part.
 */
import { decodedSize, decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import type { MessageBytes } from './message-bytes.ts';

export interface EncodedPart {
  readonly from: number;
  readonly to: number;
  readonly encoding: 'base64' | 'quoted-printable';
}

const ALPHABET = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
  ALPHABET[character.charCodeAt(0)] = 1;
const EQUALS = 0x3d;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

/** Offset up to which base64 is whole: groups of four characters, or a padding, which ends a run. */
function wholeBase64(bytes: Uint8Array): number {
  let whole = 0;
  let inGroup = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (ALPHABET[byte] === 1) inGroup = (inGroup + 1) & 3;
    else if (byte === EQUALS) inGroup = 0;
    if (inGroup === 0) whole = i + 1;
  }
  return whole;
}

/** Offset before spaces that may be at the end of a line, and before an escape that may be incomplete. */
function wholeQuotedPrintable(bytes: Uint8Array): number {
  let at = bytes.length;
  for (;;) {
    while (at > 0 && (bytes[at - 1] === SPACE || bytes[at - 1] === TAB || bytes[at - 1] === CR)) at--;
    // In damaged text escapes follow each other: none may be at the end, where it would look like a soft line break.
    if (at > 0 && bytes[at - 1] === EQUALS) at--;
    else if (at > 1 && bytes[at - 2] === EQUALS && bytes[at - 1] !== LF) at -= 2;
    else return at;
  }
}

async function* wholeSlices(message: MessageBytes, { from, to, encoding }: EncodedPart): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const slice of message.slices(from, to)) {
    const bytes = rest.length === 0 ? slice : Buffer.concat([rest, slice]);
    const whole = encoding === 'base64' ? wholeBase64(bytes) : wholeQuotedPrintable(bytes);
    if (whole > 0) yield bytes.subarray(0, whole);
    rest = bytes.subarray(whole);
  }
  if (rest.length > 0) yield rest;
}

/** Bytes after decoding. */
export async function decodedPartSize(message: MessageBytes, part: EncodedPart): Promise<number> {
  let size = 0;
  for await (const slice of wholeSlices(message, part)) size += decodedSize(slice, part.encoding);
  return size;
}

/** The decoded bytes from `from` up to `to`. */
export async function* decodedSlices(
  message: MessageBytes,
  part: EncodedPart,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const slice of wholeSlices(message, part)) {
    const decoded = decodeTransfer(slice, part.encoding);
    const piece = decoded.subarray(Math.max(0, from - at), Math.max(0, to - at));
    if (piece.length > 0) yield piece;
    at += decoded.length;
    if (at >= to) return;
  }
}
