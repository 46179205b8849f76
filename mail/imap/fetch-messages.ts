/**
 * Answers FETCH. What the map knows (flags, UIDs, MODSEQs) never asks the store; rows come in portions; bytes of small
 * messages are read many at a time, those of large ones slice by slice as the client takes them.
 */
import { MAIL_FLAGS } from '../../domain/mail-flags.ts';
import { readAhead } from '../../domain/read-ahead.ts';
import { decodeTransfer } from '../mime/transfer-encoding.ts';
import type { MessageColumns, MessageRow } from '../store/interface.ts';
import { bodyWithoutExtensions } from './body-without-extensions.ts';
import { BrokenAnswer } from './broken-answer.ts';
import { Refusal } from './command.ts';
import { decodedPartSize, decodedSlices, type EncodedPart } from './decoded-slices.ts';
import { dateTime, unicodeString } from './encoder.ts';
import type { FetchItem, Partial, Section } from './fetch-items.ts';
import { findPart, type SectionBytes, sectionBytes, sizeOf } from './fetch-sections.ts';
import { flagList } from './flags.ts';
import { MessageBytes } from './message-bytes.ts';
import type { Session } from './session.ts';

/** Messages up to this are read many at a time. */
const SMALL_MESSAGE_BYTES = 131_072;
/** Bytes of small messages that are written; as many are read meanwhile. */
const PORTION_BYTES = 524_288;
const PORTION_MESSAGES = 200;
/** Larger parts are decoded while they are sent, and before that once to learn their size. */
const DECODED_AT_ONCE_BYTES = 1_048_576;

interface Plan {
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

interface Message {
  readonly index: number;
  readonly uid: number;
  readonly row: MessageRow | undefined;
  readonly bytes: MessageBytes | undefined;
}

/**
 * @param indices ascending
 * @param withModseq CHANGEDSINCE: MODSEQ goes out although it was not asked for
 * @returns how many messages are gone
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
  const uids = Uint32Array.from(live, (index) => selected.map.uidAt(index));
  let served = 0;
  for await (const portion of readAhead(portions(session, plan, uids))) {
    served += portion.rows.length;
    await servePortion(session, plan, portion);
  }
  return indices.length - served;
}

/** Rows that are written together, with the contents of the small messages among them where bytes are asked for. */
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
      selected.toldFlags(row.uid);
      if (!plan.printsFlags) values.push(flagsText(session, index, row.uid));
      if (session.condstore && !plan.printsModseq) values.push(`MODSEQ (${selected.map.modseqAt(index)})`);
    }
    await write(session, index, values, bytes);
    if (out.full) await out.ready();
  }
}

/** BODY[…] without PEEK sets \Seen. @returns the UIDs that got it */
async function setSeen(session: Session, rows: readonly MessageRow[]): Promise<Set<number>> {
  const { selected, store } = session;
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
    await out.content(piece);
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
      // The first slice is there before its size is promised: most trouble shows before the answer is begun.
      if (first) out.text(`${binary ? '~' : ''}{${to - from}}\r\n`);
      first = false;
      await out.content(slice);
    }
  } catch (error) {
    throw new BrokenAnswer('content of a message cannot be read', { cause: error });
  }
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

const flagsText = ({ selected, rev2 }: Session, index: number, uid: number): string =>
  `FLAGS ${flagList(selected.map.flagsAt(index), selected.map.keywordsAt(index), !rev2 && selected.isRecent(uid))}`;

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
      return ({ index, uid }) => flagsText(session, index, uid);
    case 'UID':
      return ({ uid }) => `UID ${uid}`;
    case 'MODSEQ':
      return ({ index }) => `MODSEQ (${selected.map.modseqAt(index)})`;
    case 'INTERNALDATE':
      return ({ row }) => `INTERNALDATE ${row === undefined ? 'NIL' : dateTime(row.internalDate)}`;
    case 'SAVEDATE':
      return ({ row }) => `SAVEDATE ${row === undefined ? 'NIL' : dateTime(row.saveDate)}`;
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
