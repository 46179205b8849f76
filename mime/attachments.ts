/**
 * Attachments of a message, by their bytes: what about them may harm, whatever their names say, and fingerprints (SHA-256
 * of the decoded bytes), by which the same file is found in other mail. Pure.
 */

import { hash } from 'node:crypto';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { type AttachmentInfo, leaves } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import { type AttachmentRisk, attachmentRisks, type ContentForm } from '#domain/mail/attachment-risks.ts';

export interface LabelledAttachment extends AttachmentInfo {
  /** Left out: only its name and type are known, since the message could not be read within its limits. */
  readonly risks?: readonly AttachmentRisk[];
}

/** The longest encoding of a byte is three characters (RFC 2045 §6.7). */
const ENCODED_PER_BYTE_MAX = 3;

export function labelledAttachments(
  bytes: Uint8Array,
  { parts, attachments }: { readonly parts: PartNode; readonly attachments: readonly AttachmentInfo[] },
): LabelledAttachment[] {
  if (attachments.length === 0) return [];
  const byId = new Map([...leaves(parts)].map(({ number, part }) => [number, part]));
  return attachments.map((info) => {
    const part = byId.get(info.id);
    return { ...info, risks: part === undefined ? risksByName(info) : risksOf(bytes, part, info) };
  });
}

/** The risks that a name and a declared type tell. */
export const risksByName = ({ filename, contentType }: AttachmentInfo): AttachmentRisk[] =>
  attachmentRisks({ filename, contentType });

function risksOf(bytes: Uint8Array, part: PartNode, { filename, contentType }: AttachmentInfo): AttachmentRisk[] {
  const decoded = (max: number) =>
    decodeTransfer(bytes.subarray(part.body, Math.min(part.end, part.body + max)), part.encoding);
  const form = contentForm(decoded(FORM_BYTES * ENCODED_PER_BYTE_MAX));
  const mayHaveMacros = form === 'zip' || form === 'ole';
  return attachmentRisks({
    filename,
    contentType,
    form,
    hasMacros: mayHaveMacros && hasMacros(Buffer.from(decoded(MACROS_SEARCHED_MAX_BYTES)), form),
  });
}

const MARKS: readonly (readonly [form: ContentForm, mark: string, at?: number])[] = [
  ['pdf', '%PDF-'],
  ['png', '\x89PNG\r\n\x1a\n'],
  ['jpeg', '\xff\xd8\xff'],
  ['gif', 'GIF87a'],
  ['gif', 'GIF89a'],
  ['zip', 'PK\x03\x04'],
  ['zip', 'PK\x05\x06'],
  ['ole', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
  ['rtf', '{\\rtf'],
  ['program', '\x7fELF'],
  ['program', '\xfe\xed\xfa\xce'],
  ['program', '\xfe\xed\xfa\xcf'],
  ['program', '\xce\xfa\xed\xfe'],
  ['program', '\xcf\xfa\xed\xfe'],
  ['program', '\xca\xfe\xba\xbe'],
  ['program', '#!'],
  // A Windows shortcut: its size and class (MS-SHLLINK §2.1).
  ['program', 'L\0\0\0\x01\x14\x02\0'],
  ['archive', 'Rar!\x1a\x07'],
  ['archive', '7z\xbc\xaf\x27\x1c'],
  ['archive', '\x1f\x8b\x08'],
  ['archive', 'BZh'],
  ['archive', '\xfd7zXZ\0'],
  ['archive', '\x28\xb5\x2f\xfd'],
  ['archive', 'MSCF\0\0\0\0'],
  ['archive', 'ustar', 257],
  ['archive', 'CD001', 32_769],
];
/** Bytes of a file that its form is read from: an ISO image has its mark behind 32 KiB. */
const FORM_BYTES = 32_774;
/** A page may begin with so much white space, comments or a declaration. */
const MARKUP_CHARACTERS = 1_024;

/** @param bytes the beginning of the decoded content. @returns null: none of the known forms */
export function contentForm(bytes: Uint8Array): ContentForm | null {
  if (bytes.length === 0) return 'empty';
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, FORM_BYTES));
  for (const [form, mark, at = 0] of MARKS)
    if (head.subarray(at, at + mark.length).equals(Buffer.from(mark, 'latin1'))) return form;
  // A text may begin with these letters as well; the header of a program has numbers.
  if (head.toString('latin1', 0, 2) === 'MZ' && head.subarray(2, 64).includes(0)) return 'program';
  if (head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP') return 'webp';
  const text = markup(head);
  if (/^<(?:!doctype\s+html|html|head|body|script|iframe|meta|base)\b/i.test(text)) return 'html';
  if (/^<(?:!doctype\s+svg|svg)\b/i.test(text)) return 'svg';
  // Readers look for the mark in the first KiB.
  return head.subarray(0, 1_024).includes('%PDF-') ? 'pdf' : null;
}

/** The first tag, behind byte order mark, white space, XML declaration and comments; UTF-16 as well. */
function markup(head: Buffer): string {
  const [first, second] = head;
  const isWide = (first === 0xff && second === 0xfe) || (second === 0 && first !== 0 && first !== undefined);
  let text = head.toString(isWide ? 'utf16le' : 'utf8', 0, MARKUP_CHARACTERS * 2).slice(0, MARKUP_CHARACTERS);
  for (let rest = text; ; text = rest) {
    rest = text.replace(/^(?:[\s\ufeff]+|<\?[^>]*>|<!--[^]*?-->)/, '');
    if (rest === text) return text;
  }
}

/** Bytes of a document that are searched for macros. */
const MACROS_SEARCHED_MAX_BYTES = 8 * 1_024 * 1_024;

const ZIP_MACROS = Buffer.from('vbaProject.bin', 'latin1');
const OLE_MACROS = Buffer.from('_VBA_PROJECT', 'utf16le');

/** Whether a document holds a project of macros (MS-OVBA §2.2.1), by the name of its part. */
export const hasMacros = (bytes: Buffer, form: ContentForm | null): boolean =>
  (form === 'zip' && bytes.includes(ZIP_MACROS)) || (form === 'ole' && bytes.includes(OLE_MACROS));

/**
 * Each once, hexadecimal. Empty attachments have none: they are all the same.
 *
 * @param attachments of these bytes
 */
export function attachmentDigests(
  bytes: Uint8Array,
  root: PartNode,
  attachments: readonly Pick<AttachmentInfo, 'id'>[],
): string[] {
  if (attachments.length === 0) return [];
  const ids = new Set(attachments.map(({ id }) => id));
  const digests = new Set<string>();
  for (const { number, part } of leaves(root)) {
    if (!ids.has(number)) continue;
    const content = decodeTransfer(bytes.subarray(part.body, part.end), part.encoding);
    if (content.length > 0) digests.add(hash('sha256', content));
  }
  return [...digests];
}
