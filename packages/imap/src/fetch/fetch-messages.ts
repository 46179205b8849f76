/**
 * Answers FETCH. The items become a plan: what must be read, and a printer for each of them. A plan takes one of three
 * paths, the cheapest first:
 *
 *     map      flags, UIDs, MODSEQs                   the map of the selected folder has them: no query
 *     listed   header lines too, sizes and dates      an index of header lines, formatted as bytes (`fetch-listed.ts`);
 *                                                     messages that it does not have take the next path
 *     rows     everything else                        rows in portions; the next one is read while this one is written
 *
 * If bytes are requested, those of small messages are read many at a time, those of large ones slice by slice as the
 * client reads them (`message-content.ts`).
 */

import type { MessageColumns, MessageRow } from '@agent-mailbox/mail-store';
import { MAIL_FLAGS } from '@agent-mailbox/mail-store/flags';
import { wantedFields } from '@agent-mailbox/mail-store/header-index';
import { readAhead } from '@agent-mailbox/mail-store/read-ahead';
import { fieldsOf, OPEN } from '@agent-mailbox/mime-structure/envelope';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import type { Session } from '#imap/session/session.ts';
import { BrokenAnswer, Refusal } from '#imap/wire/completion.ts';
import { unicodeString } from '#imap/wire/encoder.ts';
import { printDateTime } from '#imap/wire/values.ts';
import { fetchListed, type ListedItem, type Listing, PLAIN_ITEMS } from './fetch-listed.ts';
import {
  decodedPartSize,
  decodedSlices,
  type EncodedPart,
  findPart,
  MessageBytes,
  type Partial,
  type Section,
  type SectionBytes,
  sectionBytes,
  sizeOf,
  withoutNul,
} from './message-content.ts';

/** Messages up to this are read many at a time. */
const SMALL_MESSAGE_BYTES = 131_072;
/** Bytes of small messages that are written at a time; the same number is read meanwhile. */
const PORTION_BYTES = 524_288;
const PORTION_MESSAGES = 200;

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

/**
 * @param indices ascending
 * @param withModseq CHANGEDSINCE: MODSEQ is sent although it was not requested
 * @returns the number of removed messages
 */
export async function fetchMessages(
  session: Session,
  indices: readonly number[],
  items: readonly FetchItem[],
  byUid: boolean,
  withModseq: boolean,
): Promise<number> {
  const { selected, out } = session;
  const plan = planOf(session, items, byUid, withModseq);
  const live = indices.filter((index) => !selected.isGone(selected.map.uidAt(index)));
  if (plan.fromMap) {
    for (const index of live) {
      const message: Message = { index, uid: selected.map.uidAt(index), row: undefined, bytes: undefined };
      const texts: string[] = [];
      for (const print of plan.printers) {
        const value = print(message);
        if (typeof value === 'string') texts.push(value);
      }
      out.line(`* ${index + 1} FETCH (${texts.join(' ')})`);
      if (out.full) await out.ready();
    }
    return indices.length - live.length;
  }
  let uids: Uint32Array = Uint32Array.from(live, (index) => selected.map.uidAt(index));
  let served = 0;
  const listing = plan.setsSeen ? undefined : listingOf(session, plan.items);
  if (listing !== undefined) {
    const listed = await fetchListed(session, listing, uids);
    served += listed.served;
    uids = listed.toRead;
  }
  for await (const portion of readAhead(portions(session, plan, uids))) {
    served += portion.rows.length;
    await servePortion(session, plan, portion);
  }
  return indices.length - served;
}

/** Rows that are written together, with the contents of the small messages among them if bytes are requested. */
interface Portion {
  readonly rows: readonly MessageRow[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

async function* portions({ selected, store }: Session, plan: Plan, uids: Uint32Array): AsyncGenerator<Portion> {
  for await (const all of store.rows(selected.folder.id, uids, plan.columns)) {
    if (!plan.needsBytes) {
      yield { rows: all, contents: new Map() };
      continue;
    }
    for (const rows of boundedPortions(all)) {
      const small = rows.filter(({ size }) => size <= SMALL_MESSAGE_BYTES).map(({ messageId }) => messageId);
      const contents = small.length === 0 ? new Map() : await store.contents([...new Set(small)], SMALL_MESSAGE_BYTES);
      yield { rows, contents };
    }
  }
}

function* boundedPortions(rows: readonly MessageRow[]): Generator<readonly MessageRow[]> {
  let portion: MessageRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = row.size <= SMALL_MESSAGE_BYTES ? row.size : 0;
    if (portion.length >= PORTION_MESSAGES || bytes + size > PORTION_BYTES) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(row);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}

async function servePortion(session: Session, plan: Plan, { rows, contents }: Portion): Promise<void> {
  const { selected, store, out } = session;
  const seen = plan.setsSeen ? await setSeen(session, rows) : undefined;
  for (const row of rows) {
    const index = selected.map.indexOf(row.uid);
    if (index < 0) continue;
    const bytes = plan.needsBytes
      ? new MessageBytes(store, row.messageId, row.size, contents.get(row.messageId))
      : undefined;
    const values: (string | Content)[] = [];
    for (const print of plan.printers) {
      const value = print({ index, uid: row.uid, row, bytes });
      values.push(typeof value === 'object' && 'then' in value ? await value : value);
    }
    if (seen?.has(row.uid) === true) {
      selected.markReported(row.uid);
      if (!plan.printsFlags) values.push(selected.flagsItem(index, session));
      if (session.condstore && !plan.printsModseq) values.push(`MODSEQ (${selected.map.modseqAt(index)})`);
    }
    await write(session, index, values, bytes);
    if (out.full) await out.ready();
  }
}

/** BODY[…] without PEEK sets \Seen. @returns the UIDs that got it */
async function setSeen(session: Session, rows: readonly MessageRow[]): Promise<Set<number>> {
  const { selected, store, out } = session;
  const uids = rows
    .map(({ uid }) => uid)
    .filter((uid) => {
      const index = selected.map.indexOf(uid);
      return index >= 0 && (selected.map.flagsAt(index) & MAIL_FLAGS.seen) === 0;
    });
  if (uids.length === 0) return new Set();
  const { states } = await store.storeFlags({
    folderId: selected.folder.id,
    uids,
    change: 'add',
    flags: MAIL_FLAGS.seen,
    keywords: [],
    unchangedSince: null,
  });
  for (const state of states) selected.apply(state, true);
  selected.reportKeywords(out);
  return new Set(states.map(({ uid }) => uid));
}

async function write(
  { out }: Session,
  index: number,
  values: readonly (string | Content)[],
  bytes: MessageBytes | undefined,
): Promise<void> {
  out.text(`* ${index + 1} FETCH (`);
  let first = true;
  for (const value of values) {
    if (!first) out.text(' ');
    first = false;
    if (typeof value === 'string') out.text(value);
    else await writeContent(out, value, bytes);
  }
  out.line(')');
}

async function writeContent(out: Session['out'], content: Content, message: MessageBytes | undefined): Promise<void> {
  const { name, bytes, partial, binary } = content;
  out.text(`${name}${partial === null ? '' : `<${partial.from}>`} `);
  if (bytes === undefined) {
    out.text('NIL');
    return;
  }
  const total = sizeOf(bytes);
  const from = Math.min(partial?.from ?? 0, total);
  const to = Math.min(total, from + (partial?.length ?? total));
  if (to === from) {
    out.text('""');
    return;
  }
  const piece =
    bytes.kind === 'bytes'
      ? bytes.bytes.subarray(from, to)
      : bytes.kind === 'range'
        ? message?.held(bytes.from + from, bytes.from + to)
        : undefined;
  if (piece !== undefined) {
    out.text(`${binary && piece.includes(0) ? '~' : ''}{${piece.length}}\r\n`);
    await out.content(binary ? piece : withoutNul(piece));
    return;
  }
  if (message === undefined || bytes.kind === 'bytes') throw new Error('no bytes were read');
  let first = true;
  try {
    const slices =
      bytes.kind === 'range'
        ? message.slices(bytes.from + from, bytes.from + to)
        : decodedSlices(message, bytes.part, from, to);
    for await (const slice of slices) {
      // The first slice is read before its size is announced: most errors occur before the answer starts.
      if (first) out.text(`${binary ? '~' : ''}{${to - from}}\r\n`);
      first = false;
      await out.content(binary ? slice : withoutNul(slice));
    }
  } catch (error) {
    throw new BrokenAnswer('content of a message cannot be read', { cause: error });
  }
}

/** Larger parts are decoded while they are sent, and before that once to learn their size. */
const DECODED_AT_ONCE_BYTES = 1_048_576;

/** What a FETCH reads and prints. */
interface Plan {
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

type Printer = (message: Message) => string | Content | Promise<string | Content>;

/** An item whose value is a literal that may be large. */
interface Content {
  readonly name: string;
  readonly bytes: SectionBytes;
  readonly partial: Partial | null;
  readonly binary: boolean;
}

/** A message as the printers of its items see it. */
interface Message {
  readonly index: number;
  readonly uid: number;
  readonly row: MessageRow | undefined;
  readonly bytes: MessageBytes | undefined;
}

function planOf(session: Session, asked: readonly FetchItem[], byUid: boolean, withModseq: boolean): Plan {
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

/** @returns undefined if something else was requested, or the store has no index of header lines */
function listingOf({ store }: Session, items: readonly FetchItem[]): Listing | undefined {
  if (store.listed === undefined) return undefined;
  let fields: readonly string[] | undefined;
  const listed: ListedItem[] = [];
  for (const item of items) {
    if (item.kind === 'body') {
      const { path, text, printed } = item.section;
      const isListed = text.kind === 'fields' && !text.not && path.length === 0 && item.partial === null;
      if (!isListed || fields !== undefined || wantedFields(text.names) === undefined) return undefined;
      fields = text.names;
      listed.push({ kind: 'lines', name: Buffer.from(`BODY[${printed}] {`, 'latin1') });
      continue;
    }
    const kind = item.kind === 'simple' ? PLAIN_ITEMS.find((name) => name === item.name) : undefined;
    if (kind === undefined) return undefined;
    listed.push({ kind });
  }
  return fields === undefined ? undefined : { read: store.listed.bind(store), fields, items: listed };
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
