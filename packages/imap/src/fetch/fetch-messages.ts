/**
 * Answers FETCH. Data in the map (flags, UIDs, MODSEQs) needs no query; rows are read in portions; bytes of small
 * messages are read many at a time, those of large ones slice by slice as the client reads them.
 */

import type { MessageRow } from '@agent-mailbox/mail-store';
import { MAIL_FLAGS } from '@agent-mailbox/mail-store/flags';
import { readAhead } from '@agent-mailbox/mail-store/read-ahead';
import type { Session } from '#imap/session/session.ts';
import { BrokenAnswer } from '#imap/wire/broken-answer.ts';
import { decodedSlices } from './decoded-slices.ts';
import type { FetchItem } from './fetch-items.ts';
import { fetchListed, listingOf } from './fetch-listed.ts';
import { type Content, flagsText, type Message, type Plan, planOf } from './fetch-plan.ts';
import { MessageBytes } from './message-bytes.ts';
import { sizeOf } from './message-content.ts';
import { withoutNul } from './without-nul.ts';

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
      if (!plan.printsFlags) values.push(flagsText(session, index, row.uid));
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
