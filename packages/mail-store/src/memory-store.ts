/**
 * A mailbox in memory behind the interface of the store, for tests and examples: complete, but each call takes time in
 * proportion to the folder, and nothing outlives the process.
 */
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import { MAIL_FLAGS } from './flags.ts';
import {
  type AppendMessage,
  type ContentQuery,
  type CopiedUids,
  type FolderChanges,
  type FolderView,
  type MailboxStore,
  type MessageColumns,
  type MessageRow,
  type SpecialUse,
  type Spool,
  type StoredFlags,
  type StoreFlags,
  StoreRefused,
} from './interface.ts';
import {
  listedOf,
  MemoryFolder,
  matches,
  type Placement,
  previewOf,
  rowOf,
  STANDARD_FOLDERS,
  type StoredMessage,
} from './memory-folder.ts';

const PORTION = 3;

export class MemoryStore implements MailboxStore {
  readonly #folders = new Map<number, MemoryFolder>();
  readonly #subscribed = new Set<string>();
  readonly #messages = new Map<string, StoredMessage>();
  #nextFolder = 1;
  #nextMessage = 1;
  #nextUidValidity = 1_600_000_000;
  quotaBytes = 100_000_000;
  /** Spools neither stored nor discarded. */
  openSpools = 0;
  /** Thrown by the next call, to play a failure. */
  failure: Error | null = null;
  /** Time of what is stored from now on; null: that of the clock. */
  now: Date | null = null;

  constructor(standardFolders = true) {
    for (const [name, use] of standardFolders ? STANDARD_FOLDERS : STANDARD_FOLDERS.slice(0, 1)) this.#make(name, use);
  }

  #make(name: string, specialUse: SpecialUse | null): MemoryFolder {
    const folder = new MemoryFolder(this.#nextFolder++, name, specialUse, this.#nextUidValidity++);
    this.#folders.set(folder.id, folder);
    return folder;
  }

  #time(): Date {
    return this.now ?? new Date();
  }

  #trouble(): void {
    const { failure } = this;
    this.failure = null;
    if (failure !== null) throw failure;
  }

  #byName(name: string): MemoryFolder | undefined {
    const wanted = name.toUpperCase() === 'INBOX' ? 'INBOX' : name;
    return [...this.#folders.values()].find((folder) => folder.name === wanted);
  }

  #need(id: number): MemoryFolder {
    const folder = this.#folders.get(id);
    if (folder === undefined) throw new StoreRefused('no-folder', 'No such folder');
    return folder;
  }

  async folders() {
    this.#trouble();
    return [...this.#folders.values()].map((folder) => folder.shown());
  }

  async folder(name: string) {
    this.#trouble();
    const folder = this.#byName(name);
    return folder === undefined ? undefined : folder.shown();
  }

  async createFolder(name: string, specialUse: SpecialUse | null) {
    if (this.#byName(name) !== undefined) throw new StoreRefused('exists', 'The folder exists already');
    const levels = name.split('/');
    for (let depth = 1; depth < levels.length; depth++) {
      const parent = levels.slice(0, depth).join('/');
      if (this.#byName(parent) === undefined) this.#make(parent, null);
    }
    return this.#make(name, specialUse).shown();
  }

  async deleteFolder(name: string) {
    const folder = this.#byName(name);
    if (folder === undefined) throw new StoreRefused('no-folder', 'No such folder');
    if (folder.specialUse !== null) throw new StoreRefused('cannot', 'The folder is one of the mailbox itself');
    this.#folders.delete(folder.id);
    folder.wake();
  }

  async renameFolder(from: string, to: string) {
    const folder = this.#byName(from);
    if (folder === undefined) throw new StoreRefused('no-folder', 'No such folder');
    if (this.#byName(to) !== undefined) throw new StoreRefused('exists', 'The folder exists already');
    if (folder.name === 'INBOX') {
      const target = this.#make(to, null);
      await this.move(folder.id, [...folder.placements.keys()], target.id);
      return;
    }
    const prefix = `${folder.name}/`;
    for (const each of this.#folders.values())
      if (each.name.startsWith(prefix)) each.name = `${to}/${each.name.slice(prefix.length)}`;
    folder.name = to;
  }

  async subscriptions() {
    return [...this.#subscribed];
  }

  async subscribe(name: string, subscribed: boolean) {
    if (subscribed) this.#subscribed.add(name);
    else this.#subscribed.delete(name);
  }

  get #usedBytes(): number {
    let sum = 0;
    for (const folder of this.#folders.values())
      for (const { message } of folder.placements.values()) sum += message.bytes.length;
    return sum;
  }

  async quota() {
    let messages = 0;
    for (const folder of this.#folders.values()) messages += folder.placements.size;
    return { usedBytes: this.#usedBytes, limitBytes: this.quotaBytes, messages };
  }

  async view(folderId: number, claimRecent: boolean): Promise<FolderView | undefined> {
    this.#trouble();
    return this.#folders.get(folderId)?.view(claimRecent);
  }

  async recentFrom(folderId: number, uidValidity: number, claimBelow: number | null): Promise<number> {
    this.#trouble();
    const folder = this.#folders.get(folderId);
    if (folder === undefined || folder.uidValidity !== uidValidity) return Number.MAX_SAFE_INTEGER;
    return folder.claimRecent(claimBelow);
  }

  async changes(folderId: number, since: number): Promise<FolderChanges | 'too-old' | undefined> {
    this.#trouble();
    return this.#folders.get(folderId)?.changes(since);
  }

  async vanishedSince(folderId: number, since: number): Promise<readonly number[] | 'too-old'> {
    return this.#need(folderId).vanishedSince(since);
  }

  async *rows(folderId: number, uids: Uint32Array, want: MessageColumns) {
    for (let at = 0; at < uids.length; at += PORTION) {
      this.#trouble();
      const portion: MessageRow[] = [];
      for (const uid of uids.subarray(at, at + PORTION)) {
        const placement = this.#folders.get(folderId)?.placements.get(uid);
        if (placement !== undefined) portion.push(rowOf(placement, want));
      }
      yield portion;
    }
  }

  async *listed(folderId: number, uids: Uint32Array, fields: readonly string[]) {
    this.#trouble();
    yield listedOf(this.#folders.get(folderId)?.placements, uids, fields);
  }

  async slice(messageId: string, from: number, length: number) {
    this.#trouble();
    return this.#messages.get(messageId)?.bytes.subarray(from, from + length) ?? new Uint8Array(0);
  }

  async contents(messageIds: readonly string[], maxBytesEach: number) {
    const found = new Map<string, Uint8Array>();
    for (const id of messageIds) {
      const message = this.#messages.get(id);
      if (message !== undefined && message.bytes.length <= maxBytesEach) found.set(id, message.bytes);
    }
    return found;
  }

  async search(folderId: number, uids: Uint32Array, query: ContentQuery) {
    this.#trouble();
    const folder = this.#need(folderId);
    return uids.filter((uid) => {
      const placement = folder.placements.get(uid);
      return placement !== undefined && matches(placement, query);
    });
  }

  spool(): Spool {
    const pieces: Buffer[] = [];
    this.openSpools++;
    let open = true;
    const discard = async () => {
      if (open) this.openSpools--;
      open = false;
    };
    return {
      async write(chunk) {
        pieces.push(Buffer.from(chunk));
      },
      async end() {
        const bytes = Buffer.concat(pieces);
        return { size: bytes.length, bytes: async () => bytes, discard };
      },
      discard,
    };
  }

  async append(folderId: number, messages: readonly AppendMessage[]) {
    this.#trouble();
    const folder = this.#need(folderId);
    const total = messages.reduce((sum, { content }) => sum + content.size, 0);
    if (this.#usedBytes + total > this.quotaBytes) throw new StoreRefused('over-quota', 'The mailbox is full');
    const uids: number[] = [];
    folder.modseq++;
    for (const { content, flags, keywords, internalDate, internalOffsetMinutes = 0 } of messages) {
      const message = this.#store(Buffer.from(await content.bytes()));
      const saveDate = this.#time();
      const date = { internalDate: internalDate ?? saveDate, internalOffsetMinutes, saveDate };
      uids.push(folder.place(message, { ...date, flags, keywords }));
    }
    folder.wake();
    return { uidValidity: folder.uidValidity, uids };
  }

  /** A delivery: a change by another session. @returns the UID */
  deliver(
    folderName: string,
    text: string,
    placed: Partial<Pick<Placement, 'flags' | 'keywords' | 'internalDate'>> = {},
  ) {
    const folder = this.#byName(folderName);
    if (folder === undefined) throw new Error(`no folder ${folderName}`);
    folder.modseq++;
    const message = this.#store(Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1'));
    const saveDate = this.#time();
    const { internalDate = saveDate, flags = 0, keywords = [] } = placed;
    const uid = folder.place(message, { internalDate, internalOffsetMinutes: 0, saveDate, flags, keywords });
    folder.wake();
    return uid;
  }

  /** The next UID of a folder becomes this one. */
  skipUids(folderName: string, uidNext: number, modseq?: number): void {
    const folder = this.#byName(folderName);
    if (folder === undefined) throw new Error(`no folder ${folderName}`);
    folder.uidNext = uidNext;
    if (modseq !== undefined) folder.modseq = modseq;
  }

  /** Forgets the changes up to now, as the real store does after 30 days. */
  prune(folderName: string): void {
    const folder = this.#byName(folderName);
    if (folder === undefined) throw new Error(`no folder ${folderName}`);
    folder.prune();
  }

  #store(bytes: Buffer): StoredMessage {
    const number = this.#nextMessage++;
    const read = readStructure(bytes);
    const preview = previewOf(bytes, read.parts);
    const message = { id: `msg_${number}`, threadId: `thr_${number}`, bytes, read, preview };
    this.#messages.set(message.id, message);
    return message;
  }

  async storeFlags(change: StoreFlags): Promise<StoredFlags> {
    this.#trouble();
    return this.#need(change.folderId).storeFlags(change);
  }

  async copy(folderId: number, uids: readonly number[], toFolderId: number, complete = false): Promise<CopiedUids> {
    this.#trouble();
    const folder = this.#need(folderId);
    const target = this.#need(toFolderId);
    const sources = uids.flatMap((uid) => folder.placements.get(uid) ?? []);
    if (complete && sources.length < uids.length)
      throw new StoreRefused('gone', 'Some of the messages have been removed');
    const total = sources.reduce((sum, { message }) => sum + message.bytes.length, 0);
    if (this.#usedBytes + total > this.quotaBytes) throw new StoreRefused('over-quota', 'The mailbox is full');
    const to: number[] = [];
    const saveDate = this.#time();
    if (sources.length > 0) target.modseq++;
    for (const source of sources) to.push(target.place(source.message, { ...source, saveDate }));
    target.wake();
    return { uidValidity: target.uidValidity, from: sources.map(({ uid }) => uid), to };
  }

  async move(folderId: number, uids: readonly number[], toFolderId: number, complete = false) {
    const used = this.quotaBytes;
    this.quotaBytes = Number.MAX_SAFE_INTEGER;
    try {
      const copied = await this.copy(folderId, uids, toFolderId, complete);
      const folder = this.#need(folderId);
      folder.remove(copied.from);
      return { ...copied, highestModseq: folder.modseq };
    } finally {
      this.quotaBytes = used;
    }
  }

  async expunge(folderId: number, uids: readonly number[] | null, force = false) {
    this.#trouble();
    const folder = this.#need(folderId);
    const removed = [...folder.placements.values()]
      .filter(
        ({ uid, flags }) => (uids === null || uids.includes(uid)) && (force || (flags & MAIL_FLAGS.deleted) !== 0),
      )
      .map(({ uid }) => uid);
    folder.remove(removed);
    return { uids: removed, highestModseq: folder.modseq };
  }

  async replace(folderId: number, uid: number, toFolderId: number, message: AppendMessage) {
    const folder = this.#need(folderId);
    if (!folder.placements.has(uid)) throw new StoreRefused('gone', 'The message has been removed');
    const { uidValidity, uids } = await this.append(toFolderId, [message]);
    folder.remove([uid]);
    return { uidValidity, uid: uids[0] ?? 0, highestModseq: folder.modseq };
  }

  watch(folderId: number, wake: () => void) {
    const folder = this.#folders.get(folderId);
    folder?.watchers.add(wake);
    return () => {
      folder?.watchers.delete(wake);
    };
  }

  /** How many connections watch any folder. */
  get watchers(): number {
    let count = 0;
    for (const { watchers } of this.#folders.values()) count += watchers.size;
    return count;
  }
}
