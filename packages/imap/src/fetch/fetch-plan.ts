/** Which columns and bytes the items of a FETCH need, and how each item is printed. */
import type { MessageColumns, MessageRow } from '@agent-mailbox/mail-store';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import { Refusal } from '#imap/command.ts';
import type { Session } from '#imap/session/session.ts';
import { printDateTime } from '#imap/wire/date-time.ts';
import { unicodeString } from '#imap/wire/encoder.ts';
import { flagList } from '#imap/wire/flags.ts';
import { bodyWithoutExtensions } from './body-without-extensions.ts';
import { decodedPartSize, type EncodedPart } from './decoded-slices.ts';
import type { FetchItem, Partial, Section } from './fetch-items.ts';
import type { MessageBytes } from './message-bytes.ts';
import { findPart, type SectionBytes, sectionBytes, sizeOf } from './message-content.ts';

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

type Printer = (message: Message) => string | Content | Promise<string | Content>;

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

export const flagsText = ({ selected, rev2 }: Session, index: number, uid: number): string =>
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
