/**
 * FETCH of what lists of mail show: flags, sizes, dates and a few header lines. It is the request with which nearly
 * every client opens a folder, so thousands of answers are formatted as bytes, without a text or an object for each.
 */

import type { ListedMessages } from '@agent-mailbox/mail-store';
import type { Session } from '#imap/session/session.ts';
import { printDateTime } from '#imap/wire/values.ts';

type Listed = NonNullable<Session['store']['listed']>;

/** What such a FETCH prints. */
export interface Listing {
  readonly read: Listed;
  /** Of the header, lower-cased. */
  readonly fields: readonly string[];
  readonly items: readonly ListedItem[];
}

/** Items beside the header lines. */
export const PLAIN_ITEMS = ['FLAGS', 'INTERNALDATE', 'MODSEQ', 'RFC822.SIZE', 'UID'] as const;

export type ListedItem =
  | { readonly kind: (typeof PLAIN_ITEMS)[number] }
  | { readonly kind: 'lines'; readonly name: Buffer };

/**
 * @param uids ascending
 * @returns the number of messages that were answered, and the UIDs of those that must be read instead
 */
export async function fetchListed(
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
