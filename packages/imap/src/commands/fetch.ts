/**
 * FETCH (RFC 9051 §6.4.5) with CHANGEDSINCE and VANISHED (RFC 7162). The items are a plan (`fetch/fetch-items.ts`), which
 * takes one of three paths, the cheapest first:
 *
 *     map      flags, UIDs, MODSEQs                   the map of the selected folder has them: no query
 *     listed   header lines too, sizes and dates      an index of header lines: the request with which nearly every client
 *                                                     opens a folder, so thousands of answers are formatted as bytes,
 *                                                     without a text or an object for each. Messages that the index does
 *                                                     not have take the next path
 *     rows     everything else                        rows in portions; the next one is read while this one is written
 *
 * If bytes are requested, those of small messages are read many at a time, those of large ones slice by slice as the
 * client reads them (`fetch/message-content.ts`).
 */
import type { ListedMessages, MessageRow } from '@agent-mailbox/mail-store';
import { MAIL_FLAGS } from '@agent-mailbox/mail-store/flags';
import { wantedFields } from '@agent-mailbox/mail-store/header-index';
import { readAhead } from '@agent-mailbox/mail-store/read-ahead';
import { command, SELECTED } from '#imap/command.ts';
import {
  type Content,
  type FetchItem,
  type Message,
  type Plan,
  parseFetchItems,
  parseFetchModifiers,
  planOf,
} from '#imap/fetch/fetch-items.ts';
import { decodedSlices, MessageBytes, sizeOf, withoutNul } from '#imap/fetch/message-content.ts';
import { parseSequenceSet } from '#imap/session/sequence-numbers.ts';
import type { Session } from '#imap/session/session.ts';
import { BrokenAnswer, ok } from '#imap/wire/completion.ts';
import { printDateTime } from '#imap/wire/values.ts';
import { QRESYNC_NOT_ENABLED } from './select.ts';

export const fetch = command({
  verb: 'FETCH',
  states: SELECTED,
  uid: true,
  reports: 'no-expunge',
  args(scan, { uid }) {
    scan.space();
    const set = parseSequenceSet(scan);
    scan.space();
    const items = parseFetchItems(scan);
    const { changedSince, vanished } = parseFetchModifiers(scan, uid);
    return { set, items, changedSince, vanished };
  },
  async run({ session, uid }, { set, items, changedSince, vanished }) {
    if (vanished && !session.qresync) return QRESYNC_NOT_ENABLED;
    const { selected, out } = session;
    const withModseq = items.some((item) => item.kind === 'simple' && item.name === 'MODSEQ');
    if (changedSince !== null || withModseq) session.useCondstore();
    if (changedSince !== null && selected.stale) {
      await selected.refresh();
      await selected.reportNew(out, session);
    }
    const { map } = selected;
    if (vanished && changedSince !== null) {
      const known = set.kind === 'ranges' ? set.ranges : [...selected.saved].map((each) => [each, each] as const);
      const earlier = await selected.vanishedEarlier(changedSince, known);
      if (earlier !== '') out.line(`* VANISHED (EARLIER) ${earlier}`);
    }
    const all = selected.indices(set, uid);
    const indices = changedSince === null ? all : all.filter((index) => map.modseqAt(index) > changedSince);
    const missing = await fetchMessages(session, indices, items, uid, changedSince !== null);
    return missing > 0 && !uid ? ok('Some of the messages have been removed', 'EXPUNGEISSUED') : ok('FETCH completed');
  },
});

/** Messages up to this are read many at a time. */
const SMALL_MESSAGE_BYTES = 131_072;
/** Bytes of small messages that are written at a time; the same number is read meanwhile. */
const PORTION_BYTES = 524_288;
const PORTION_MESSAGES = 200;

/**
 * @param indices ascending
 * @param withModseq CHANGEDSINCE: MODSEQ is sent although it was not requested
 * @returns the number of removed messages
 */
async function fetchMessages(
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

type Listed = NonNullable<Session['store']['listed']>;

/** What such a FETCH prints. */
interface Listing {
  readonly read: Listed;
  /** Of the header, lower-cased. */
  readonly fields: readonly string[];
  readonly items: readonly ListedItem[];
}

/** Items beside the header lines. */
const PLAIN_ITEMS = ['FLAGS', 'INTERNALDATE', 'MODSEQ', 'RFC822.SIZE', 'UID'] as const;

type ListedItem = { readonly kind: (typeof PLAIN_ITEMS)[number] } | { readonly kind: 'lines'; readonly name: Buffer };

/**
 * @param uids ascending
 * @returns the number of messages that were answered, and the UIDs of those that must be read instead
 */
async function fetchListed(
  session: Session,
  listing: Listing,
  uids: Uint32Array,
): Promise<{ served: number; toRead: Uint32Array }> {
  const { selected, out } = session;
  const toRead: number[] = [];
  let served = 0;
  for await (const messages of listing.read(selected.folder.id, uids, listing.fields)) {
    let answers = new AnswerBytes();
    for (let i = 0; i < messages.uids.length; i++) {
      const uid = messages.uids[i] ?? 0;
      if (messages.indexed[i] !== 1) {
        toRead.push(uid);
        continue;
      }
      served++;
      const index = selected.map.indexOf(uid);
      if (index < 0) continue;
      print(session, listing.items, messages, i, index, answers);
      if (!answers.isFull) continue;
      out.bytes(answers.taken());
      answers = new AnswerBytes();
      if (out.full) await out.ready();
    }
    out.bytes(answers.taken());
    if (out.full) await out.ready();
  }
  return { served, toRead: Uint32Array.from(toRead) };
}

const FETCH = Buffer.from(' FETCH (');
const UID = Buffer.from('UID ');
const SIZE = Buffer.from('RFC822.SIZE ');
const LITERAL_END = Buffer.from('}\r\n');
const HEADER_END = Buffer.from('\r\n');
const ANSWER_END = Buffer.from(')\r\n');

function print(
  session: Session,
  items: readonly ListedItem[],
  messages: ListedMessages,
  i: number,
  index: number,
  answers: AnswerBytes,
): void {
  const { map } = session.selected;
  const uid = messages.uids[i] ?? 0;
  answers.byte(STAR);
  answers.byte(SPACE);
  answers.number(index + 1);
  answers.bytes(FETCH);
  for (let n = 0; n < items.length; n++) {
    const item = items[n];
    if (item === undefined) continue;
    if (n > 0) answers.byte(SPACE);
    switch (item.kind) {
      case 'UID':
        answers.bytes(UID);
        answers.number(uid);
        break;
      case 'RFC822.SIZE':
        answers.bytes(SIZE);
        answers.number(messages.sizes[i] ?? 0);
        break;
      case 'FLAGS':
        answers.text(session.selected.flagsItem(index, session));
        break;
      case 'INTERNALDATE':
        answers.text(
          `INTERNALDATE ${printDateTime(new Date(messages.internalDates[i] ?? 0), messages.internalOffsets[i] ?? 0)}`,
        );
        break;
      case 'MODSEQ':
        answers.text(`MODSEQ (${map.modseqAt(index)})`);
        break;
      case 'lines': {
        const from = i === 0 ? 0 : (messages.ends[i - 1] ?? 0);
        const to = messages.ends[i] ?? from;
        answers.bytes(item.name);
        answers.number(to - from + HEADER_END.length);
        answers.bytes(LITERAL_END);
        answers.bytes(messages.lines, from, to);
        answers.bytes(HEADER_END);
        break;
      }
    }
  }
  answers.bytes(ANSWER_END);
}

const STAR = 0x2a;
const SPACE = 0x20;
const ZERO = 0x30;
const FULL_BYTES = 49_152;
const SIZE_BYTES = 65_536;
/** Up to this length a loop copies faster than a call. */
const SHORT_BYTES = 32;

/** Answers as they are sent. */
class AnswerBytes {
  #buffer = Buffer.allocUnsafe(SIZE_BYTES);
  #at = 0;

  get isFull(): boolean {
    return this.#at >= FULL_BYTES;
  }

  taken(): Uint8Array {
    return this.#buffer.subarray(0, this.#at);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#at++] = value;
  }

  /** @param value a whole number from 0 on */
  number(value: number): void {
    let digits = 1;
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++;
    this.#reserve(digits);
    let rest = value;
    for (let at = this.#at + digits - 1; at >= this.#at; at--) {
      const tens = Math.floor(rest / 10);
      this.#buffer[at] = ZERO + rest - tens * 10;
      rest = tens;
    }
    this.#at += digits;
  }

  /** @param latin1 one character for each byte */
  text(latin1: string): void {
    this.#reserve(latin1.length);
    const buffer = this.#buffer;
    if (latin1.length > SHORT_BYTES) this.#at += buffer.write(latin1, this.#at, 'latin1');
    else for (let i = 0; i < latin1.length; i++) buffer[this.#at++] = latin1.charCodeAt(i);
  }

  bytes(bytes: Uint8Array, from = 0, to = bytes.length): void {
    this.#reserve(to - from);
    const buffer = this.#buffer;
    if (to - from > SHORT_BYTES) {
      buffer.set(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to), this.#at);
      this.#at += to - from;
    } else for (let i = from; i < to; i++) buffer[this.#at++] = bytes[i] ?? 0;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#at + bytes, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#at));
    this.#buffer = larger;
  }
}
