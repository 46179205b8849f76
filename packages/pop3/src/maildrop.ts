/**
 * The maildrop of a POP3 session: INBOX as it was at login. Nothing is locked: other sessions can change the folder,
 * and later messages appear in the next session. Deletions are marks until `commit`.
 */
import type { MailboxStore, MessageColumns } from '@agent-mailbox/mail-store';

/** The parts of a mailbox that POP3 uses. */
export type MaildropStore = Pick<MailboxStore, 'readOnly' | 'folder' | 'view' | 'rows' | 'slice' | 'expunge'>;

export interface MaildropMessage {
  /** From 1, the position at login. */
  readonly number: number;
  readonly uid: number;
  /** `<uidvalidity>.<uid>`: never given to another message (RFC 1939 §7). */
  readonly uniqueId: string;
  readonly messageId: string;
  /** Bytes as sent, before dot-stuffing. */
  readonly size: number;
  readonly storedSize: number;
}

const NO_COLUMNS: MessageColumns = {
  envelope: false,
  bodyStructure: false,
  parts: false,
  preview: false,
  sortKeys: false,
};
const SLICE_BYTES = 65_536;

export class Maildrop {
  #store: MaildropStore;
  #folderId: number;
  #messages: readonly MaildropMessage[];
  #deleted = new Set<number>();

  private constructor(store: MaildropStore, folderId: number, messages: readonly MaildropMessage[]) {
    this.#store = store;
    this.#folderId = folderId;
    this.#messages = messages;
  }

  static async open(store: MaildropStore): Promise<Maildrop> {
    const inbox = await store.folder('INBOX');
    const view = inbox === undefined ? undefined : await store.view(inbox.id, false);
    if (inbox === undefined || view === undefined) throw new Error('the mailbox has no INBOX');
    const messages: MaildropMessage[] = [];
    for await (const rows of store.rows(inbox.id, view.uids, { ...NO_COLUMNS, parts: true }))
      for (const { uid, messageId, size, parts } of rows)
        messages.push({
          number: messages.length + 1,
          uid,
          uniqueId: `${view.folder.uidValidity}.${uid}`,
          messageId,
          size: size + (parts?.wireGrowth ?? 0),
          storedSize: size,
        });
    return new Maildrop(store, inbox.id, messages);
  }

  /** The login may only read: nothing can be marked. */
  get readOnly(): boolean {
    return this.#store.readOnly === true;
  }

  /** Messages without a mark. */
  *messages(): Generator<MaildropMessage> {
    for (const message of this.#messages) if (!this.#deleted.has(message.number)) yield message;
  }

  /** @returns undefined: there is none of this number, or it is marked */
  message(number: number): MaildropMessage | undefined {
    return this.#deleted.has(number) ? undefined : this.#messages[number - 1];
  }

  isDeleted(number: number): boolean {
    return this.#deleted.has(number);
  }

  totals(): { count: number; bytes: number } {
    let [count, bytes] = [0, 0];
    for (const { size } of this.messages()) {
      count++;
      bytes += size;
    }
    return { count, bytes };
  }

  markDeleted(number: number): void {
    this.#deleted.add(number);
  }

  unmarkAll(): void {
    this.#deleted.clear();
  }

  /**
   * The bytes as stored, in portions.
   *
   * @returns undefined: it is not in INBOX any more, because another session removed it since login
   */
  async read(message: MaildropMessage): Promise<AsyncIterable<Uint8Array> | undefined> {
    const [isThere, first] = await Promise.all([this.#isThere(message.uid), this.#slice(message, 0)]);
    return isThere ? this.#slices(message, first) : undefined;
  }

  async #isThere(uid: number): Promise<boolean> {
    for await (const rows of this.#store.rows(this.#folderId, Uint32Array.of(uid), NO_COLUMNS))
      if (rows.some((row) => row.uid === uid)) return true;
    return false;
  }

  #slice({ messageId, storedSize }: MaildropMessage, from: number): Promise<Uint8Array> {
    return this.#store.slice(messageId, from, Math.min(SLICE_BYTES, storedSize - from));
  }

  async *#slices(message: MaildropMessage, first: Uint8Array): AsyncGenerator<Uint8Array> {
    let slice = first;
    for (let from = 0; ; slice = await this.#slice(message, from)) {
      from += slice.length;
      if (slice.length > 0) yield slice;
      if (from >= message.storedSize) return;
      if (slice.length === 0) throw new Error(`message ${message.messageId} ends before its size`);
    }
  }

  /** Removes the marked messages, all in one transaction. @returns how many there were */
  async commit(): Promise<number> {
    const uids = [...this.#deleted].flatMap((number) => this.#messages[number - 1]?.uid ?? []);
    if (uids.length > 0)
      await this.#store.expunge(
        this.#folderId,
        uids.toSorted((a, b) => a - b),
        true,
      );
    this.#deleted.clear();
    return uids.length;
  }
}
