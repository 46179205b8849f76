/**
 * Values on the wire that the store has in another form, read and written.
 *
 *     flags           system flags are bits, keywords are atoms (RFC 9051 §2.3.2)
 *     dates, times    RFC 9051 §9, `date` and `date-time`; those that do not exist are not accepted
 *     folder names    modified UTF-7 (RFC 3501 §5.1.3), or UTF-8 from clients that have enabled it;
 *                     in the store Unicode NFC, INBOX in capitals
 */
import { MAIL_FLAGS, type MailFlag } from '@agent-mailbox/mail-store/flags';
import {
  FOLDER_DEPTH_MAX,
  FOLDER_NAME_MAX_BYTES,
  KEYWORD_MAX_CHARACTERS,
  KEYWORDS_PER_MESSAGE_MAX,
} from '@agent-mailbox/mail-store/limits';
import { imapString } from '@agent-mailbox/mime-structure/envelope';
import { Refusal } from './completion.ts';
import { fromUtf8, unicodeString } from './encoder.ts';
import type { ParseContext, Scanner } from './parser.ts';

const WIRE: readonly (readonly [MailFlag, string])[] = [
  ['answered', '\\Answered'],
  ['flagged', '\\Flagged'],
  ['deleted', '\\Deleted'],
  ['seen', '\\Seen'],
  ['draft', '\\Draft'],
];
const BITS = new Map(WIRE.map(([flag, name]) => [name.toUpperCase(), MAIL_FLAGS[flag]]));

export const SYSTEM_FLAGS = WIRE.map(([, name]) => name).join(' ');

/** Text of each combination of bits. */
const TEXTS: readonly string[] = Array.from({ length: 32 }, (_, bits) =>
  WIRE.filter(([flag]) => (bits & MAIL_FLAGS[flag]) !== 0)
    .map(([, name]) => name)
    .join(' '),
);

/** `(\Seen work)`; keywords are atoms, so they need no quoting. */
export function flagList(bits: number, keywords: readonly string[], recent: boolean): string {
  const system = TEXTS[bits & 31] ?? '';
  if (keywords.length === 0 && !recent) return `(${system})`;
  return `(${[...(system === '' ? [] : [system]), ...keywords, ...(recent ? ['\\Recent'] : [])].join(' ')})`;
}

export interface FlagSet {
  readonly flags: number;
  readonly keywords: readonly string[];
}

/** Reads `(\Seen work)`, or the same without parentheses if STORE allows it. \Recent cannot be set and is ignored. */
export function parseFlags(scan: Scanner, bareAllowed = false): FlagSet {
  let flags = 0;
  const keywords = new Map<string, string>();
  const one = () => {
    if (scan.skip('\\')) {
      const name = `\\${scan.word()}`;
      const bit = BITS.get(name);
      if (bit !== undefined) flags |= bit;
      else if (name !== '\\RECENT') scan.fail('a known flag');
      return;
    }
    const keyword = scan.atom();
    if (!keywords.has(keyword.toLowerCase())) keywords.set(keyword.toLowerCase(), keyword);
  };
  if (bareAllowed && scan.peek() !== '(') {
    do one();
    while (scan.skip(' '));
  } else scan.list(one);
  return { flags, keywords: [...keywords.values()] };
}

/** @throws {Refusal} LIMIT when a message cannot have these */
export function checkKeywords(keywords: readonly string[]): void {
  if (keywords.length > KEYWORDS_PER_MESSAGE_MAX)
    throw new Refusal('LIMIT', `At most ${KEYWORDS_PER_MESSAGE_MAX} keywords can be stored for a message`);
  if (keywords.some((keyword) => keyword.length > KEYWORD_MAX_CHARACTERS))
    throw new Refusal('LIMIT', `A keyword has at most ${KEYWORD_MAX_CHARACTERS} characters`);
}

/** Whether two lists contain the same keywords, ignoring order and case. */
export function sameKeywords(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  if (a.length === 0) return true;
  const lower = new Set(a.map((keyword) => keyword.toLowerCase()));
  return b.every((keyword) => lower.has(keyword.toLowerCase()));
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

const DATE = /"?(\d{1,2})-([A-Za-z]{3})-(\d{4})"?/y;
const DATE_TIME = /"([ \d]\d)-([A-Za-z]{3})-(\d{4}) (\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})"/y;
const LEAP_SECOND = 60;
const YEAR_1_MS = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000_MS = Date.parse('+010000-01-01T00:00:00Z');

/** A moment, with the zone it was written in. */
export interface ZonedTime {
  readonly time: Date;
  /** Minutes east of UTC. */
  readonly offsetMinutes: number;
}

/** Midnight (UTC) of a day of the years 1 to 9999, in milliseconds; undefined if there is no such day. */
function midnight(day: number, monthName: string, year: number): number | undefined {
  const month = MONTHS.findIndex((name) => name.toUpperCase() === monthName.toUpperCase());
  if (month < 0 || year < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  // The 31st of February would otherwise become some other day in silence.
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.getTime() : undefined;
}

/** `1-Feb-2020`, with or without quotes. @returns its midnight (UTC) in milliseconds @throws {SyntaxProblem} */
export function parseDate(scan: Scanner): number {
  const text = scan.match(DATE) ?? scan.fail('a date');
  if (text.startsWith('"') !== text.endsWith('"')) scan.fail('a date');
  const [day, monthName = '', year] = text.replaceAll('"', '').split('-');
  return midnight(Number(day), monthName, Number(year)) ?? scan.fail('a valid date');
}

/** `" 1-Feb-2020 10:00:00 +0100"`. @throws {SyntaxProblem} */
export function parseDateTime(scan: Scanner): ZonedTime {
  const text = scan.match(DATE_TIME) ?? scan.fail('a date-time');
  DATE_TIME.lastIndex = 0;
  const [, day, monthName = '', year, ...rest] = DATE_TIME.exec(text) ?? [];
  const [hour = 0, minute = 0, second = 0] = rest.slice(0, 3).map(Number);
  const [zoneHours = 0, zoneMinutes = 0] = rest.slice(4).map(Number);
  const start = midnight(Number(day), monthName, Number(year));
  if (start === undefined || hour > 23 || minute > 59 || zoneHours > 23 || zoneMinutes > 59 || second > LEAP_SECOND)
    return scan.fail('a valid date-time');
  const offsetMinutes = (rest[3] === '-' ? -1 : 1) * (zoneHours * 60 + zoneMinutes);
  const time = start + (hour * 60 + minute - offsetMinutes) * MINUTE_MS + second * 1_000;
  // In UTC too the year must be 1 to 9999: others cannot be stored.
  if (time < YEAR_1_MS || time >= YEAR_10000_MS) scan.fail('a date-time of the years 1 to 9999');
  // Leap seconds are the last of a day in UTC.
  if (second === LEAP_SECOND && time % DAY_MS !== 0) scan.fail('a valid date-time');
  return { time: new Date(time), offsetMinutes };
}

const two = (value: number): string => String(value).padStart(2, '0');

/** A moment as `date-time`, in the zone given. */
export function printDateTime(time: Date, offsetMinutes = 0): string {
  const wall = new Date(time.getTime() + offsetMinutes * MINUTE_MS);
  const day = String(wall.getUTCDate()).padStart(2, ' ');
  const clock = `${two(wall.getUTCHours())}:${two(wall.getUTCMinutes())}:${two(wall.getUTCSeconds())}`;
  const east = Math.abs(offsetMinutes);
  const zone = `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(east / 60))}${two(east % 60)}`;
  return `"${day}-${MONTHS[wall.getUTCMonth()]}-${String(wall.getUTCFullYear()).padStart(4, '0')} ${clock} ${zone}"`;
}

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

/** The only argument of a command. */
export function nameArgument(scan: Scanner, context: ParseContext): WireName {
  scan.space();
  return folderName(scan, context);
}

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
