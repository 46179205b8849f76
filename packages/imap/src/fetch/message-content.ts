/**
 * The bytes of one message while it is fetched, and the pieces of them that a section names (RFC 9051 §6.4.5.1).
 *
 *     MessageBytes    in memory if the message is small, otherwise read from the store slice by slice
 *     sectionBytes    looks a section up in the offset tree of the message, which was stored with it:
 *                       range     a piece of the stored bytes
 *                       bytes     made from them: chosen header fields, a small decoded part
 *                       decoded   a large part, decoded as it is sent
 *     decodedSlices   a large part without its transfer encoding. An incomplete group or escape at the end of a slice is
 *                     kept for the next one: it uses memory for two slices, whatever the size of the part
 *     withoutNul      what may be sent in a literal that is no literal8
 */
import type { MailboxStore } from '@agent-mailbox/mail-store';
import { MESSAGE_SLICE_MAX_BYTES } from '@agent-mailbox/mail-store/limits';
import { readAhead } from '@agent-mailbox/mail-store/read-ahead';
import { headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { decodedSize, decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';

export type SectionText =
  | { readonly kind: 'whole' | 'header' | 'text' | 'mime' }
  | { readonly kind: 'fields'; readonly not: boolean; readonly names: readonly string[] };

export interface Section {
  /** Part numbers; empty: the message itself. */
  readonly path: readonly number[];
  readonly text: SectionText;
  /** As printed in the answer, without `[…]`. */
  readonly printed: string;
}

export interface Partial {
  readonly from: number;
  readonly length: number;
}

/** Bytes that were promised to the client are not there. */
export class MessageCutShort extends Error {}

export class MessageBytes {
  readonly size: number;
  readonly #store: MailboxStore;
  readonly #messageId: string;
  #whole: Uint8Array | undefined;

  constructor(store: MailboxStore, messageId: string, size: number, whole: Uint8Array | undefined) {
    this.#store = store;
    this.#messageId = messageId;
    this.size = size;
    this.#whole = whole;
  }

  /** @throws {MessageCutShort} */
  async read(from: number, to: number): Promise<Uint8Array> {
    if (to <= from) return new Uint8Array(0);
    if (this.#whole !== undefined) return this.#whole.subarray(from, to);
    if (to - from > MESSAGE_SLICE_MAX_BYTES) {
      const pieces: Uint8Array[] = [];
      for await (const piece of this.slices(from, to)) pieces.push(piece);
      return Buffer.concat(pieces);
    }
    const bytes = await this.#store.slice(this.#messageId, from, to - from);
    if (bytes.length !== to - from) throw new MessageCutShort(`${this.#messageId} ends before ${to}`);
    // All sections of a small message are cut from one read.
    if (from === 0 && to === this.size) this.#whole = bytes;
    return bytes;
  }

  /** The bytes, if they are already in memory. */
  held(from: number, to: number): Uint8Array | undefined {
    return this.#whole?.subarray(from, to);
  }

  /** The next slice is read while the caller has the last one. */
  slices(from: number, to: number): AsyncGenerator<Uint8Array> {
    return readAhead(this.#slices(from, to));
  }

  async *#slices(from: number, to: number): AsyncGenerator<Uint8Array> {
    for (let at = from; at < to; at += MESSAGE_SLICE_MAX_BYTES)
      yield await this.read(at, Math.min(to, at + MESSAGE_SLICE_MAX_BYTES));
  }
}

/** A piece of the stored bytes, or bytes made from it; undefined: there is no such part. */
export type SectionBytes =
  | { readonly kind: 'range'; readonly from: number; readonly to: number }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** A large part, decoded as it is sent. */
  | { readonly kind: 'decoded'; readonly part: EncodedPart; readonly size: number }
  | undefined;

interface Found {
  readonly part: PartNode;
  /** It is a message: the root, or the content of a message/rfc822. */
  readonly message: PartNode | undefined;
}

const isMessage = (part: PartNode): boolean => part.type === 'message' && part.parts !== undefined;

/** A message that is no multipart has itself as part 1. */
function child(message: PartNode, number: number): PartNode | undefined {
  if (message.type === 'multipart' && message.parts !== undefined) return message.parts[number - 1];
  return number === 1 ? message : undefined;
}

export function findPart(root: PartNode, path: readonly number[]): Found | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return { part: root, message: root };
  let part = child(root, first);
  for (const number of rest) {
    if (part === undefined) return undefined;
    if (part.type === 'multipart') part = part.parts?.[number - 1];
    else {
      const [inner] = isMessage(part) ? (part.parts ?? []) : [];
      part = inner === undefined ? undefined : child(inner, number);
    }
  }
  if (part === undefined) return undefined;
  return { part, message: isMessage(part) ? part.parts?.[0] : undefined };
}

const range = (from: number, to: number): SectionBytes => ({ kind: 'range', from, to });

export async function sectionBytes(
  root: PartNode,
  { path, text }: Section,
  message: MessageBytes,
): Promise<SectionBytes> {
  const found = findPart(root, path);
  if (found === undefined) return undefined;
  const { part } = found;
  switch (text.kind) {
    case 'whole':
      return path.length === 0 ? range(0, message.size) : range(part.body, part.end);
    case 'mime':
      return range(part.header, part.body);
    case 'header':
      return found.message === undefined ? undefined : range(found.message.header, found.message.body);
    case 'text':
      return found.message === undefined ? undefined : range(found.message.body, found.message.end);
    case 'fields': {
      if (found.message === undefined) return undefined;
      const bytes = await message.read(found.message.header, found.message.body);
      const pieces = headerFields(bytes, 0, bytes.length)
        .filter((field) => text.names.includes(field.name) !== text.not)
        .map((field) => withLineEnd(bytes.subarray(field.start, field.end)));
      return { kind: 'bytes', bytes: Buffer.concat([...pieces, CRLF]) };
    }
  }
}

/** Size of the bytes to send. */
export function sizeOf(bytes: Exclude<SectionBytes, undefined>): number {
  switch (bytes.kind) {
    case 'range':
      return bytes.to - bytes.from;
    case 'bytes':
      return bytes.bytes.length;
    case 'decoded':
      return bytes.size;
  }
}

const CRLF = Buffer.from('\r\n');

/** The last field of a header without an empty line may lack its line break. */
const withLineEnd = (bytes: Uint8Array): Uint8Array => (bytes.at(-1) === 0x0a ? bytes : Buffer.concat([bytes, CRLF]));

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

const NUL_SHOWN_AS = 0x80;

/**
 * Bytes for an ordinary literal, in which NUL is not allowed (RFC 9051 §4.3.1, RFC 3516 §4.2). The byte 80, which is not
 * ASCII, replaces each NUL, so that sizes and offsets stay the same; BINARY[] sends the unchanged bytes.
 */
export function withoutNul(bytes: Uint8Array): Uint8Array {
  let at = bytes.indexOf(0);
  if (at < 0) return bytes;
  const shown = Uint8Array.from(bytes);
  for (; at >= 0; at = shown.indexOf(0, at + 1)) shown[at] = NUL_SHOWN_AS;
  return shown;
}
