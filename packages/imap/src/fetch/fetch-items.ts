/**
 * The items of a FETCH (RFC 9051 §6.4.5; BINARY RFC 3516, PREVIEW RFC 8970, SAVEDATE RFC 8514, OBJECTID RFC 8474): read from
 * the command, and made a plan: what must be read of the messages, and a printer for each item.
 */
import type { MessageColumns, MessageRow } from '@agent-mailbox/mail-store';
import { fieldsOf, OPEN } from '@agent-mailbox/mime-structure/envelope';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import type { Session } from '#imap/session/session.ts';
import { Refusal } from '#imap/wire/completion.ts';
import { unicodeString } from '#imap/wire/encoder.ts';
import type { Scanner } from '#imap/wire/parser.ts';
import { printDateTime } from '#imap/wire/values.ts';
import {
  decodedPartSize,
  type EncodedPart,
  findPart,
  type MessageBytes,
  type Partial,
  type Section,
  type SectionBytes,
  sectionBytes,
  sizeOf,
} from './message-content.ts';

/** Items without a section. */
export const SIMPLE_ITEMS = [
  'FLAGS',
  'UID',
  'INTERNALDATE',
  'RFC822.SIZE',
  'ENVELOPE',
  'BODY',
  'BODYSTRUCTURE',
  'RFC822',
  'RFC822.HEADER',
  'RFC822.TEXT',
  'MODSEQ',
  'EMAILID',
  'THREADID',
  'PREVIEW',
  'SAVEDATE',
] as const;
export type SimpleItem = (typeof SIMPLE_ITEMS)[number];

export type FetchItem =
  | { readonly kind: 'simple'; readonly name: SimpleItem }
  | {
      readonly kind: 'body' | 'binary';
      readonly peek: boolean;
      readonly section: Section;
      readonly partial: Partial | null;
    }
  | { readonly kind: 'binary-size'; readonly section: Section };

export const FETCH_MACROS: Record<string, readonly SimpleItem[]> = {
  ALL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE'],
  FAST: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE'],
  FULL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE', 'BODY'],
};
/** Without `[`, so that it ends before a section. */
const ITEM_NAME = /[A-Za-z0-9.]+/y;
const ITEMS_MAX = 200;
const FIELD_NAMES_MAX = 200;
const PATH_MAX = 64;

const simple = (name: SimpleItem): FetchItem => ({ kind: 'simple', name });

export function parseFetchItems(scan: Scanner): FetchItem[] {
  if (scan.peek() === '(') {
    let count = 0;
    return scan.list(() => {
      if (++count > ITEMS_MAX) scan.fail(`at most ${ITEMS_MAX} items`);
      return parseItem(scan, itemName(scan));
    }, false);
  }
  const name = itemName(scan);
  const macro = FETCH_MACROS[name];
  return macro === undefined ? [parseItem(scan, name)] : macro.map(simple);
}

const itemName = (scan: Scanner): string => (scan.match(ITEM_NAME) ?? scan.fail('an item')).toUpperCase();

function parseItem(scan: Scanner, name: string): FetchItem {
  if (scan.peek() === '[')
    switch (name) {
      case 'BODY':
      case 'BODY.PEEK':
        return { kind: 'body', peek: name === 'BODY.PEEK', section: parseSection(scan), partial: parsePartial(scan) };
      case 'BINARY':
      case 'BINARY.PEEK':
        return {
          kind: 'binary',
          peek: name === 'BINARY.PEEK',
          section: parsePartOnly(scan),
          partial: parsePartial(scan),
        };
      case 'BINARY.SIZE':
        return { kind: 'binary-size', section: parsePartOnly(scan) };
      default:
        return scan.fail('an item that has sections');
    }
  if (name === 'PREVIEW' && scan.skip(' (')) {
    scan.expect('LAZY');
    scan.expect(')');
  }
  const known = SIMPLE_ITEMS.find((each) => each === name);
  return known === undefined ? scan.fail('a known item') : simple(known);
}

function parsePartial(scan: Scanner): Partial | null {
  if (!scan.skip('<')) return null;
  const from = scan.number();
  scan.expect('.');
  const length = scan.number(1);
  scan.expect('>');
  return { from, length };
}

function parsePath(scan: Scanner): number[] {
  const path: number[] = [];
  while (/\d/.test(scan.peek())) {
    if (path.length >= PATH_MAX) scan.fail('a part that is less deeply nested');
    path.push(scan.number(1));
    if (!scan.skip('.')) break;
  }
  return path;
}

function parsePartOnly(scan: Scanner): Section {
  scan.expect('[');
  const path = parsePath(scan);
  scan.expect(']');
  return { path, text: { kind: 'whole' }, printed: path.join('.') };
}

const TEXTS = /HEADER\.FIELDS\.NOT|HEADER\.FIELDS|HEADER|TEXT|MIME/iy;

function parseSection(scan: Scanner): Section {
  scan.expect('[');
  const path = parsePath(scan);
  const printedPath = path.join('.');
  if (scan.skip(']')) return { path, text: { kind: 'whole' }, printed: printedPath };
  const word = (scan.match(TEXTS) ?? scan.fail('a section')).toUpperCase();
  const printed = printedPath === '' ? word : `${printedPath}.${word}`;
  let section: Section;
  switch (word) {
    case 'HEADER':
      section = { path, text: { kind: 'header' }, printed };
      break;
    case 'TEXT':
      section = { path, text: { kind: 'text' }, printed };
      break;
    case 'MIME':
      if (path.length === 0) scan.fail('a part before MIME');
      section = { path, text: { kind: 'mime' }, printed };
      break;
    default: {
      scan.space();
      const names = scan.list(() => scan.astring(), false);
      if (names.length > FIELD_NAMES_MAX) scan.fail(`at most ${FIELD_NAMES_MAX} header names`);
      const list = names.map((name) => (/^[!#-'*-9;-Z^-z|}~+]+$/.test(name) ? name : quotedName(scan, name))).join(' ');
      section = {
        path,
        text: { kind: 'fields', not: word === 'HEADER.FIELDS.NOT', names: names.map((name) => name.toLowerCase()) },
        printed: `${printed} (${list})`,
      };
    }
  }
  scan.expect(']');
  return section;
}

function quotedName(scan: Scanner, name: string): string {
  if (!/^[\x20-\x7e]*$/.test(name)) return scan.fail('header names in ASCII');
  return `"${name.replace(/["\\]/g, '\\$&')}"`;
}

/** ` (CHANGEDSINCE n VANISHED)`, RFC 7162 §3.1.4.1 and §3.2.6. */
export function parseFetchModifiers(scan: Scanner, uid: boolean): { changedSince: number | null; vanished: boolean } {
  let changedSince: number | null = null;
  let vanished = false;
  if (scan.skip(' '))
    scan.list(() => {
      if (scan.skip('CHANGEDSINCE ')) changedSince = scan.number64();
      else if (uid && scan.skip('VANISHED')) vanished = true;
      else scan.fail('CHANGEDSINCE');
    }, false);
  if (vanished && changedSince === null) scan.fail('CHANGEDSINCE beside VANISHED');
  return { changedSince, vanished };
}

/** Larger parts are decoded while they are sent, and before that once to learn their size. */
const DECODED_AT_ONCE_BYTES = 1_048_576;

/** What a FETCH reads and prints. */
export interface Plan {
  /** As printed, each once. */
  readonly items: readonly FetchItem[];
  readonly columns: MessageColumns;
  /** Neither rows nor bytes are needed. */
  readonly fromMap: boolean;
  readonly needsBytes: boolean;
  readonly setsSeen: boolean;
  /** Items that go out anyway, so that a flag change need not add them. */
  readonly printsFlags: boolean;
  readonly printsModseq: boolean;
  readonly printers: readonly Printer[];
}

export type Printer = (message: Message) => string | Content | Promise<string | Content>;

/** An item whose value is a literal that may be large. */
export interface Content {
  readonly name: string;
  readonly bytes: SectionBytes;
  readonly partial: Partial | null;
  readonly binary: boolean;
}

/** A message as the printers of its items see it. */
export interface Message {
  readonly index: number;
  readonly uid: number;
  readonly row: MessageRow | undefined;
  readonly bytes: MessageBytes | undefined;
}

export function planOf(session: Session, asked: readonly FetchItem[], byUid: boolean, withModseq: boolean): Plan {
  const items: FetchItem[] = [];
  const names = new Set<string>();
  const add = (item: FetchItem) => {
    if (item.kind === 'simple' && names.has(item.name)) return;
    if (item.kind === 'simple') names.add(item.name);
    items.push(item);
  };
  if (byUid) add({ kind: 'simple', name: 'UID' });
  for (const item of asked) add(item);
  if (withModseq) add({ kind: 'simple', name: 'MODSEQ' });
  const simple = (...list: string[]) => items.some((item) => item.kind === 'simple' && list.includes(item.name));
  const sections = items.some((item) => item.kind !== 'simple');
  const needsBytes = sections || simple('RFC822', 'RFC822.HEADER', 'RFC822.TEXT');
  const setsSeen =
    !session.selected.readOnly &&
    items.some((item) =>
      item.kind !== 'simple' && item.kind !== 'binary-size' ? !item.peek : simple('RFC822', 'RFC822.TEXT'),
    );
  const columns: MessageColumns = {
    envelope: simple('ENVELOPE'),
    bodyStructure: simple('BODY', 'BODYSTRUCTURE'),
    parts: items.some(needsParts),
    preview: simple('PREVIEW'),
    sortKeys: false,
  };
  const fromMap =
    !needsBytes && items.every((item) => item.kind === 'simple' && ['FLAGS', 'UID', 'MODSEQ'].includes(item.name));
  return {
    items,
    columns,
    fromMap,
    needsBytes,
    setsSeen,
    printsFlags: simple('FLAGS'),
    printsModseq: simple('MODSEQ'),
    printers: items.map((item) => printerOf(session, item)),
  };
}

/** The whole message is found without its parts. */
const needsParts = (item: FetchItem): boolean =>
  item.kind === 'simple' ? item.name === 'RFC822.HEADER' || item.name === 'RFC822.TEXT' : !isWhole(item.section);

const isWhole = ({ path, text }: Section): boolean => path.length === 0 && text.kind === 'whole';

const latin1 = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? 'NIL' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

const HEADER: Section = { path: [], text: { kind: 'header' }, printed: 'HEADER' };
const TEXT: Section = { path: [], text: { kind: 'text' }, printed: 'TEXT' };

function printerOf(session: Session, item: FetchItem): Printer {
  const { selected, utf8 } = session;
  switch (item.kind) {
    case 'body':
      return (message) => sectionContent(message, item.section, `BODY[${item.section.printed}]`, item.partial);
    case 'binary':
      return async (message) => {
        const bytes = await binaryBytes(message, item.section);
        return { name: `BINARY[${item.section.printed}]`, bytes, partial: item.partial, binary: true };
      };
    case 'binary-size':
      return async (message) => {
        const bytes = await binaryBytes(message, item.section);
        const size = bytes === undefined ? 0 : sizeOf(bytes);
        return `BINARY.SIZE[${item.section.printed}] ${size}`;
      };
    case 'simple':
      break;
  }
  switch (item.name) {
    case 'FLAGS':
      return ({ index }) => selected.flagsItem(index, session);
    case 'UID':
      return ({ uid }) => `UID ${uid}`;
    case 'MODSEQ':
      return ({ index }) => `MODSEQ (${selected.map.modseqAt(index)})`;
    case 'INTERNALDATE':
      return ({ row }) =>
        `INTERNALDATE ${row === undefined ? 'NIL' : printDateTime(row.internalDate, row.internalOffsetMinutes)}`;
    case 'SAVEDATE':
      return ({ row }) => `SAVEDATE ${row === undefined ? 'NIL' : printDateTime(row.saveDate)}`;
    case 'RFC822.SIZE':
      return ({ row }) => `RFC822.SIZE ${row?.size ?? 0}`;
    case 'ENVELOPE':
      return ({ row }) => `ENVELOPE ${latin1(row?.envelope)}`;
    case 'BODYSTRUCTURE':
      return ({ row }) => `BODYSTRUCTURE ${latin1(row?.bodyStructure)}`;
    case 'BODY':
      return ({ row }) => `BODY ${row?.bodyStructure === undefined ? 'NIL' : bodyWithoutExtensions(row.bodyStructure)}`;
    case 'EMAILID':
      return ({ row }) => `EMAILID (${row?.messageId ?? ''})`;
    case 'THREADID':
      return ({ row }) => `THREADID (${row?.threadId ?? ''})`;
    case 'PREVIEW':
      return ({ row }) => `PREVIEW ${row?.preview === undefined ? 'NIL' : unicodeString(row.preview, utf8)}`;
    case 'RFC822':
      return ({ row }) => ({
        name: 'RFC822',
        bytes: { kind: 'range', from: 0, to: row?.size ?? 0 },
        partial: null,
        binary: false,
      });
    case 'RFC822.HEADER':
      return (message) => sectionContent(message, HEADER, 'RFC822.HEADER', null);
    case 'RFC822.TEXT':
      return (message) => sectionContent(message, TEXT, 'RFC822.TEXT', null);
  }
}

const wholeOf = ({ size }: MessageRow): SectionBytes => ({ kind: 'range', from: 0, to: size });

async function sectionContent(
  { row, bytes }: Message,
  section: Section,
  name: string,
  partial: Partial | null,
): Promise<Content> {
  if (row === undefined || bytes === undefined) throw new Error('no bytes were read');
  if (isWhole(section)) return { name, bytes: wholeOf(row), partial, binary: false };
  if (row.parts === undefined) throw new Error('no parts were read');
  return { name, bytes: await sectionBytes(row.parts, section, bytes), partial, binary: false };
}

const KNOWN_ENCODINGS = ['7bit', '8bit', 'binary', 'base64', 'quoted-printable'];

/** The part with its transfer encoding undone (RFC 3516). @throws {Refusal} UNKNOWN-CTE */
async function binaryBytes({ row, bytes }: Message, section: Section): Promise<SectionBytes> {
  if (row === undefined || bytes === undefined) throw new Error('no bytes were read');
  if (isWhole(section)) return wholeOf(row);
  if (row.parts === undefined) throw new Error('no parts were read');
  const found = findPart(row.parts, section.path);
  if (found === undefined) return undefined;
  const { body, end, encoding } = found.part;
  if (!KNOWN_ENCODINGS.includes(encoding))
    throw new Refusal('UNKNOWN-CTE', `Part ${section.printed} has an encoding that is not known`);
  if (encoding !== 'base64' && encoding !== 'quoted-printable') return { kind: 'range', from: body, to: end };
  if (end - body > DECODED_AT_ONCE_BYTES) {
    const part: EncodedPart = { from: body, to: end, encoding };
    return { kind: 'decoded', part, size: await decodedPartSize(bytes, part) };
  }
  return { kind: 'bytes', bytes: decodeTransfer(await bytes.read(body, end), encoding) };
}

/**
 * BODY from BODYSTRUCTURE: the same without extension data (RFC 9051 §7.5.2). Both are wire-ready bytes.
 *
 * @returns one character per byte
 */
function bodyWithoutExtensions(structure: Uint8Array): string {
  return shorten(Buffer.from(structure.buffer, structure.byteOffset, structure.byteLength), 0);
}

const LEAF_FIELDS = 7;

function shorten(bytes: Buffer, start: number): string {
  const { fields } = fieldsOf(bytes, start);
  const text = ([from, to]: [number, number]): string => bytes.toString('latin1', from, to);
  const isList = ([from]: [number, number]): boolean => bytes[from] === OPEN;
  const [first] = fields;
  if (first !== undefined && isList(first)) {
    const children = fields.findIndex((field) => !isList(field));
    const subtype = fields[children];
    return `(${fields
      .slice(0, children)
      .map(([from]) => shorten(bytes, from))
      .join('')} ${subtype === undefined ? '"mixed"' : text(subtype)})`;
  }
  const kept = fields.slice(0, LEAF_FIELDS).map(text);
  const type = kept[0]?.toLowerCase();
  const [seventh, eighth, ninth] = fields.slice(LEAF_FIELDS);
  if (type === '"text"' && seventh !== undefined) kept.push(text(seventh));
  // The envelope of a message/rfc822 is the only list in this place.
  else if (seventh !== undefined && isList(seventh) && eighth !== undefined && ninth !== undefined)
    kept.push(text(seventh), shorten(bytes, eighth[0]), text(ninth));
  return `(${kept.join(' ')})`;
}
