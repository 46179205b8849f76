/**
 * Folder names between wire and store.
 *
 *     on the wire    modified UTF-7 (RFC 3501 §5.1.3), or UTF-8 from clients that have enabled it
 *     in the store   Unicode NFC, INBOX in capitals
 */
import { FOLDER_DEPTH_MAX, FOLDER_NAME_MAX_BYTES } from '@agent-mailbox/mail-store/limits';
import { imapString } from '@agent-mailbox/mime-structure/imap-strings';
import { Refusal } from '#imap/wire/completion.ts';
import { fromUtf8, unicodeString } from '#imap/wire/encoder.ts';
import type { ParseContext, Scanner } from '#imap/wire/parser.ts';

export const DELIMITER = '/';

/** A name as the client wrote it; `name` is undefined if it is not valid in the store. */
export interface WireName {
  readonly name: string | undefined;
  /** The name from the client, if that was not in NFC. */
  readonly oldName: string | undefined;
}

// UTF-8 also from clients that have not enabled it: no name in modified UTF-7 contains such bytes.
const unicodeName = (wire: string, utf8Enabled: boolean): string | undefined =>
  utf8Enabled || /[\x80-\xff]/.test(wire) ? fromUtf8(wire) : decodeModifiedUtf7(wire);

/** Pattern or name to Unicode. Undefined: neither modified UTF-7 nor UTF-8. */
export const decodeName = (wire: string, utf8Enabled: boolean): string | undefined =>
  unicodeName(wire, utf8Enabled)?.normalize('NFC');

export function canonicalName(name: string): string {
  const [first = '', ...rest] = name.split(DELIMITER);
  return first.toUpperCase() === 'INBOX' ? ['INBOX', ...rest].join(DELIMITER) : name;
}

export const folderName = (scan: Scanner, { utf8 }: ParseContext): WireName => {
  const written = unicodeName(scan.astring(), utf8);
  const name = written?.normalize('NFC');
  return {
    name: name === undefined ? undefined : canonicalName(name),
    oldName: written === name ? undefined : written,
  };
};

/** The name of a folder that should exist. @throws {Refusal} */
export function existingName({ name }: WireName): string {
  if (name === undefined) throw new Refusal('NONEXISTENT', 'No such folder');
  return name;
}

/** A name that a folder may get. @throws {Refusal} CANNOT, LIMIT */
export function newFolderName({ name }: WireName): string {
  if (name === undefined) throw new Refusal('CANNOT', 'The name is not valid modified UTF-7 or UTF-8');
  // A delimiter at the end declares that children will follow (RFC 9051 §6.3.4).
  const plain = name.endsWith(DELIMITER) ? name.slice(0, -1) : name;
  const levels = plain.split(DELIMITER);
  if (levels.some((level) => level === '')) throw new Refusal('CANNOT', 'A level of the name is empty');
  if (/[\p{Cc}\u2028\u2029%*]/u.test(plain))
    throw new Refusal('CANNOT', 'The name contains a character that is not allowed');
  if (levels.length > FOLDER_DEPTH_MAX) throw new Refusal('LIMIT', `Folders nest at most ${FOLDER_DEPTH_MAX} deep`);
  if (Buffer.byteLength(plain) > FOLDER_NAME_MAX_BYTES)
    throw new Refusal('LIMIT', `A folder name has at most ${FOLDER_NAME_MAX_BYTES} bytes`);
  return plain;
}

/** A name as the client reads it. */
export function wireName(name: string, utf8Enabled: boolean): string {
  const encoded = utf8Enabled ? name : encodeModifiedUtf7(name);
  if (/^[A-Za-z0-9/&+,._-]+$/.test(encoded) && encoded.toUpperCase() !== 'NIL') return encoded;
  return utf8Enabled ? unicodeString(name, true) : imapString(encoded);
}

/** Characters that modified UTF-7 leaves as they are. */
const PRINTABLE = /^[\x20-\x7e]*$/;

export function encodeModifiedUtf7(name: string): string {
  if (PRINTABLE.test(name) && !name.includes('&')) return name;
  return name.replace(/&|[^\x20-\x7e]+/g, (run) => {
    if (run === '&') return '&-';
    const utf16 = Buffer.from(run, 'utf16le').swap16();
    return `&${utf16.toString('base64').replace(/=+$/, '').replaceAll('/', ',')}-`;
  });
}

/** The name, or undefined if it is not modified UTF-7 in its canonical form. */
export function decodeModifiedUtf7(text: string): string | undefined {
  if (!PRINTABLE.test(text)) return undefined;
  if (!text.includes('&')) return text;
  let valid = true;
  const name = text.replace(/&([^-]*)(-?)/g, (_, shifted: string, close: string) => {
    if (close === '' || !/^[A-Za-z0-9+,]*$/.test(shifted)) valid = false;
    if (shifted === '') return '&';
    const bytes = Buffer.from(shifted.replaceAll(',', '/'), 'base64');
    if (bytes.length % 2 !== 0) {
      valid = false;
      return '';
    }
    return bytes.swap16().toString('utf16le');
  });
  // Each name has one spelling: a name that does not encode back to its input is an error (null shifts, ASCII in
  // base64).
  return valid && name.isWellFormed() && encodeModifiedUtf7(name) === text ? name : undefined;
}
