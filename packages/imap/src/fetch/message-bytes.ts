/**
 * The bytes of one message while it is fetched: in memory if it is small, otherwise read from the store slice by slice.
 */

import type { MailboxStore } from '@agent-mailbox/mail-store';
import { MESSAGE_SLICE_MAX_BYTES } from '@agent-mailbox/mail-store/limits';
import { readAhead } from '@agent-mailbox/mail-store/read-ahead';

/** Bytes that were promised to the client are not there. */
export class MessageCutShort extends Error {}

export class MessageBytes {
  readonly size: number;
  readonly #store: MailboxStore;
  readonly #messageId: string;
  #whole: Uint8Array | undefined;

  constructor(store: MailboxStore, messageId: string, size: number, whole: Uint8Array | undefined) {
    this.#store = store;
    this.#messageId = messageId;
    this.size = size;
    this.#whole = whole;
  }

  /** @throws {MessageCutShort} */
  async read(from: number, to: number): Promise<Uint8Array> {
    if (to <= from) return new Uint8Array(0);
    if (this.#whole !== undefined) return this.#whole.subarray(from, to);
    if (to - from > MESSAGE_SLICE_MAX_BYTES) {
      const pieces: Uint8Array[] = [];
      for await (const piece of this.slices(from, to)) pieces.push(piece);
      return Buffer.concat(pieces);
    }
    const bytes = await this.#store.slice(this.#messageId, from, to - from);
    if (bytes.length !== to - from) throw new MessageCutShort(`${this.#messageId} ends before ${to}`);
    // All sections of a small message are cut from one read.
    if (from === 0 && to === this.size) this.#whole = bytes;
    return bytes;
  }

  /** The bytes, if they are already in memory. */
  held(from: number, to: number): Uint8Array | undefined {
    return this.#whole?.subarray(from, to);
  }

  /** The next slice is read while the caller has the last one. */
  slices(from: number, to: number): AsyncGenerator<Uint8Array> {
    return readAhead(this.#slices(from, to));
  }

  async *#slices(from: number, to: number): AsyncGenerator<Uint8Array> {
    for (let at = from; at < to; at += MESSAGE_SLICE_MAX_BYTES)
      yield await this.read(at, Math.min(to, at + MESSAGE_SLICE_MAX_BYTES));
  }
}
