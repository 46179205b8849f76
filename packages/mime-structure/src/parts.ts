/** What is in a message: its text parts and its attachments, found in the offset tree and decoded on demand. */
import { decodeCharset, decodeRawHeader } from './charset.ts';
import type { PartNode, StoredParameter } from './index-message.ts';
import { decodedSize, decodeTransfer } from './transfer-encoding.ts';

/** A leaf with its IMAP section number, e.g. `1.2`. */
export interface NumberedPart {
  readonly number: string;
  readonly part: PartNode;
}

/** An attachment as lists and events show it. `id` is the section number. */
export interface AttachmentInfo {
  readonly id: string;
  readonly filename: string | null;
  readonly contentType: string;
  /** Bytes after decoding. */
  readonly sizeBytes: number;
  /** Content-ID without brackets, by which HTML refers to it. */
  readonly contentId: string | null;
  readonly inline: boolean;
}

/** Leaves in order. A message inside a message is one leaf: what it holds is its own. */
export function* leaves(root: PartNode, number = ''): Generator<NumberedPart> {
  if (root.type === 'multipart' && root.parts !== undefined)
    for (const [index, child] of root.parts.entries())
      yield* leaves(child, number === '' ? String(index + 1) : `${number}.${index + 1}`);
  else yield { number: number === '' ? '1' : number, part: root };
}

/** It came as a file. */
const isFile = (part: PartNode): boolean => part.disposition?.value === 'attachment' || part.filename !== undefined;

/** It is read as part of the message itself: also a file, where that is the whole message. */
export const isBodyText = (part: PartNode): boolean =>
  part.type === 'text' && (part.subtype === 'plain' || part.subtype === 'html') && (part.header === 0 || !isFile(part));

/** The parts a reader sees as the message itself. */
export function bodyParts(root: PartNode): { plain: NumberedPart[]; html: NumberedPart[] } {
  const found = [...leaves(root)].filter(({ part }) => isBodyText(part));
  return {
    plain: found.filter(({ part }) => part.subtype === 'plain'),
    html: found.filter(({ part }) => part.subtype === 'html'),
  };
}

export function attachmentsOf(bytes: Uint8Array, root: PartNode): AttachmentInfo[] {
  const found: AttachmentInfo[] = [];
  for (const { number, part } of leaves(root)) {
    if (isBodyText(part) && !isFile(part)) continue;
    // Of a message that holds nothing there is no attachment either.
    if (part.end === part.body && (part.type === 'multipart' || (part.header === 0 && !isFile(part)))) continue;
    found.push({
      id: number,
      filename: part.filename ?? null,
      contentType: `${part.type}/${part.subtype}`,
      sizeBytes: decodedSize(bytes.subarray(part.body, part.end), part.encoding),
      contentId: part.id === undefined ? null : decodeRawHeader(part.id.replace(/^<|>$/g, '')),
      inline: part.disposition?.value === 'inline' || (part.disposition === undefined && part.id !== undefined),
    });
  }
  return found;
}

const rawParameter = (params: readonly StoredParameter[] | undefined, name: string): string | undefined =>
  params?.find(([each]) => each === name)?.[1];

/**
 * Decoded text of a text part. What claims to be base64 and is plain text is taken as it stands.
 *
 * @param maxBytes encoded bytes that are looked at; a charset cut in the middle ends with a replacement character
 */
export function partText(bytes: Uint8Array, part: PartNode, maxBytes = Number.POSITIVE_INFINITY): string {
  const body = bytes.subarray(part.body, Math.min(part.end, part.body + maxBytes));
  const charset = rawParameter(part.params, 'charset');
  const content = decodeTransfer(body, part.encoding);
  const isPlain = part.encoding === 'base64' && isNotBase64(body, content, charset);
  return decodeCharset(isPlain ? body : content, charset).replaceAll('\r\n', '\n');
}

/** How much of a text is looked at to tell whether it is one. */
const LOOKED_AT_BYTES = 4_096;
/** Of its characters, how many may be none of a text. */
const STRANGE_SHARE_MAX = 0.05;
const STRANGE = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]/g;
const BASE64_LINE = /^[A-Za-z0-9+/]+={0,2}$/;
const WORD = /^[A-Z]?[a-z]+$/;

/**
 * Whether a body that claims to be base64 is text as it stands: some senders declare it and encode nothing. Its first
 * line tells, and what would come of it: words are hardly ever base64 of other words.
 */
function isNotBase64(body: Uint8Array, content: Uint8Array, charset: string | undefined): boolean {
  const opening = Buffer.from(body.subarray(0, LOOKED_AT_BYTES)).toString('latin1').trim();
  const line = opening.split(/\r?\n/, 1)[0] ?? '';
  // A single line of its alphabet that has no length of base64, or a word.
  const mayBeWords = !BASE64_LINE.test(line) || WORD.test(line) || (line === opening && line.length % 4 !== 0);
  return opening !== '' && mayBeWords && !isText(content, charset);
}

/** Whether bytes are a text in a charset: nearly none of its first characters is one that texts have not. */
export function isText(bytes: Uint8Array, charset: string | undefined): boolean {
  const text = decodeCharset(bytes.subarray(0, LOOKED_AT_BYTES), charset ?? 'utf-8');
  return text !== '' && (text.match(STRANGE)?.length ?? 0) <= text.length * STRANGE_SHARE_MAX;
}
