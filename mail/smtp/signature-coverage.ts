/**
 * What of a message a valid DKIM signature covers. Text that it does not cover may be of anybody: whoever has one signed
 * message can send it again with other words. So a signature says something about an author only if
 *
 * - it covers the whole body: `l=` signs only a beginning of it (RFC 6376 §8.2);
 * - it covers Subject, which is shown beside the author and which every large sender signs;
 * - it covers Content-Type, or the body confirms it: large senders leave it out, and another boundary would turn
 *   signed words, such as a quotation, into the message itself (RFC 6376 §8.2).
 *
 * Other fields that are missing, such as To and Reply-To, are only reported: large senders do not sign them.
 */
import {
  findBodyStart,
  firstValue,
  type HeaderField,
  SINGLE_FIELDS,
} from '@agent-mailbox/mime-structure/header-fields';
import { mediaType } from '@agent-mailbox/mime-structure/index-message';
import { parseParameterized } from '@agent-mailbox/mime-structure/parameters';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';

export interface SignatureCoverage {
  /** Names of `SINGLE_FIELDS`, and `body`. */
  readonly unsigned: readonly string[];
  /** Why the signature says nothing about the author; undefined: it does. */
  readonly problem: string | undefined;
}

/**
 * @param received the message as it was verified
 * @param signed names of the header fields that were hashed, one for each of them
 * @param underSized bytes of the body behind those that were hashed
 */
export function signatureCoverage(
  received: Uint8Array,
  fields: readonly HeaderField[],
  signed: readonly string[],
  underSized: number,
): SignatureCoverage {
  const count = (names: readonly string[], name: string) => names.filter((each) => each === name).length;
  const present = fields.map(({ name }) => name);
  const unsigned = SINGLE_FIELDS.filter((name) => count(present, name) > count(signed, name));
  if (underSized > 0) unsigned.push('body');
  return { unsigned, problem: problemOf(received, fields, unsigned, underSized) };
}

function problemOf(
  received: Uint8Array,
  fields: readonly HeaderField[],
  unsigned: readonly string[],
  underSized: number,
): string | undefined {
  if (underSized > 0) return `${underSized} bytes of the body are not signed`;
  if (unsigned.includes('subject')) return 'Subject is not signed';
  if (unsigned.includes('content-type') && !bodyConfirmsType(received, fields)) return 'Content-Type is not signed';
  return undefined;
}

/** How far into a body its first delimiter may be. */
const PREAMBLE_MAX_BYTES = 512;
/** As mail programs write it, e.g. `This is a multi-part message in MIME format.` */
const USUAL_PREAMBLE = /^(?:\s*|\s*this is an? [a-z0-9/(). -]{0,120}\.?\s*)$/i;

/**
 * Whether the signed body itself says that it is of the unsigned Content-Type: a multipart begins with its delimiter,
 * HTML with a tag. Anything else is shown as it is, or as a file.
 */
function bodyConfirmsType(received: Uint8Array, fields: readonly HeaderField[]): boolean {
  const { value, parameters } = parseParameterized(firstValue(fields, 'content-type') ?? '');
  const bytes = Buffer.from(received.buffer, received.byteOffset, received.byteLength);
  const body = bytes.subarray(findBodyStart(bytes, 0, bytes.length));
  // Read as the index reads it: what is multipart or HTML there must be so here.
  const [type, subtype] = mediaType(value, 'text/plain');
  if (type === 'multipart') {
    const boundary = parameters.find(({ name }) => name === 'boundary')?.raw ?? '';
    const opening = body.toString('latin1', 0, PREAMBLE_MAX_BYTES);
    const delimiter = /(?:^|\n)--(.*?)[ \t]*\r?\n/.exec(opening);
    return delimiter?.[1] === boundary && USUAL_PREAMBLE.test(opening.slice(0, delimiter.index));
  }
  if (type !== 'text' || subtype !== 'html') return true;
  const encoding = parseParameterized(firstValue(fields, 'content-transfer-encoding') ?? '').value.toLowerCase();
  return /^(?:\ufeff|\xef\xbb\xbf)?\s*</.test(
    Buffer.from(decodeTransfer(body.subarray(0, PREAMBLE_MAX_BYTES), encoding)).toString('latin1'),
  );
}
