/** What the bytes of a file are, by the marks that its format requires, whatever its name says. Pure. */
import type { ContentForm } from '#domain/mail/attachment-risks.ts';

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
export const FORM_BYTES = 32_774;
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
export const MACROS_SEARCHED_MAX_BYTES = 8 * 1_024 * 1_024;

const ZIP_MACROS = Buffer.from('vbaProject.bin', 'latin1');
const OLE_MACROS = Buffer.from('_VBA_PROJECT', 'utf16le');

/** Whether a document holds a project of macros (MS-OVBA §2.2.1), by the name of its part. */
export const hasMacros = (bytes: Buffer, form: ContentForm | null): boolean =>
  (form === 'zip' && bytes.includes(ZIP_MACROS)) || (form === 'ole' && bytes.includes(OLE_MACROS));
