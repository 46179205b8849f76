/** Finds the bytes a section names (RFC 9051 §6.4.5.1) in the offset tree of a message. */
import { headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import type { EncodedPart } from './decoded-slices.ts';
import type { Section } from './fetch-items.ts';
import type { MessageBytes } from './message-bytes.ts';

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
