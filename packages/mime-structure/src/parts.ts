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
 * Decoded text of a text part.
 *
 * @param maxBytes encoded bytes that are looked at; a charset cut in the middle ends with a replacement character
 */
export function partText(bytes: Uint8Array, part: PartNode, maxBytes = Number.POSITIVE_INFINITY): string {
  const body = bytes.subarray(part.body, Math.min(part.end, part.body + maxBytes));
  return decodeCharset(decodeTransfer(body, part.encoding), rawParameter(part.params, 'charset')).replaceAll(
    '\r\n',
    '\n',
  );
}
