/**
 * A mailbox in memory behind the interface of the store: UIDs, MODSEQs, changes and tombstones as the real one keeps
 * them, so that the engine can be tested without a database.
 */
import { MAIL_FLAGS } from '../../../domain/mail-flags.ts';
import { parseAddresses } from '../../../mail/mime/addresses.ts';
import { decodeWords } from '../../../mail/mime/encoded-words.ts';
import { firstValue, headerFields } from '../../../mail/mime/header-fields.ts';
import { type ReadMessage, readMessage } from '../../../mail/mime/read-message.ts';
import { messageText } from '../../../mail/mime/text.ts';
import {
  type AppendMessage,
  type ContentQuery,
  type CopiedUids,
  type Folder,
  type FolderChanges,
  type FolderView,
  type MailboxStore,
  type MessageColumns,
  type MessageRow,
  type PlacementState,
  type SpecialUse,
  type Spool,
  type StoredFlags,
  type StoreFlags,
  StoreRefused,
} from '../../../mail/store/interface.ts';

interface StoredMessage {
  readonly id: string;
  readonly threadId: string;
  readonly bytes: Buffer;
  readonly read: ReadMessage;
}

interface Placement {
  readonly uid: number;
  readonly message: StoredMessage;
  readonly internalDate: Date;
  readonly saveDate: Date;
  flags: number;
  keywords: readonly string[];
  modseq: number;
}

interface MemoryFolder {
  readonly id: number;
  name: string;
  readonly specialUse: SpecialUse | null;
  readonly uidValidity: number;
  uidNext: number;
  modseq: number;
  recentFrom: number;
  /** Ascending UIDs. */
  placements: Map<number, Placement>;
  tombstones: Map<number, number>;
  /** Changes below are forgotten. */
  prunedModseq: number;
  watchers: Set<() => void>;
}

const STANDARD: readonly [string, SpecialUse][] = [
  ['INBOX', '\\Inbox'],
  ['Sent', '\\Sent'],
  ['Drafts', '\\Drafts'],
  ['Archive', '\\Archive'],
  ['Junk', '\\Junk'],
  ['Trash', '\\Trash'],
];
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
  /** Thrown by the next call, to play trouble. */
  failure: Error | null = null;
  now = new Date('2026-11-21T10:00:00Z');

  constructor(standardFolders = true) {
    for (const [name, use] of standardFolders ? STANDARD : STANDARD.slice(0, 1)) this.#make(name, use);
  }

  #make(name: string, specialUse: SpecialUse | null): MemoryFolder {
    const folder: MemoryFolder = {
      id: this.#nextFolder++,
      name,
      specialUse,
      uidValidity: this.#nextUidValidity++,
      uidNext: 1,
      modseq: 1,
      recentFrom: 1,
      placements: new Map(),
      tombstones: new Map(),
      prunedModseq: 0,
      watchers: new Set(),
    };
    this.#folders.set(folder.id, folder);
    return folder;
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

  #shown(folder: MemoryFolder): Folder {
    const all = [...folder.placements.values()];
    return {
      id: folder.id,
      objectId: `F${folder.id}`,
      name: folder.name,
      specialUse: folder.specialUse,
      uidValidity: folder.uidValidity,
      uidNext: folder.uidNext,
      highestModseq: folder.modseq,
      total: all.length,
      unseen: all.filter(({ flags }) => (flags & MAIL_FLAGS.seen) === 0).length,
      deleted: all.filter(({ flags }) => (flags & MAIL_FLAGS.deleted) !== 0).length,
      bytes: all.reduce((sum, { message }) => sum + message.bytes.length, 0),
      recentFrom: folder.recentFrom,
    };
  }

  #wake(folder: MemoryFolder): void {
    for (const wake of folder.watchers) wake();
  }

  async folders() {
    this.#trouble();
    return [...this.#folders.values()].map((folder) => this.#shown(folder));
  }

  async folder(name: string) {
    this.#trouble();
    const folder = this.#byName(name);
    return folder === undefined ? undefined : this.#shown(folder);
  }

  async createFolder(name: string, specialUse: SpecialUse | null) {
    if (this.#byName(name) !== undefined) throw new StoreRefused('exists', 'The folder exists already');
    const levels = name.split('/');
    for (let depth = 1; depth < levels.length; depth++) {
      const parent = levels.slice(0, depth).join('/');
      if (this.#byName(parent) === undefined) this.#make(parent, null);
    }
    return this.#shown(this.#make(name, specialUse));
  }

  async deleteFolder(name: string) {
    const folder = this.#byName(name);
    if (folder === undefined) throw new StoreRefused('no-folder', 'No such folder');
    if (folder.specialUse !== null) throw new StoreRefused('cannot', 'The folder is needed by other doors');
    this.#folders.delete(folder.id);
    this.#wake(folder);
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
    const folder = this.#folders.get(folderId);
    if (folder === undefined) return undefined;
    const shown = this.#shown(folder);
    if (claimRecent) folder.recentFrom = folder.uidNext;
    const all = [...folder.placements.values()];
    return {
      folder: shown,
      uids: Uint32Array.from(all, ({ uid }) => uid),
      modseqs: Float64Array.from(all, ({ modseq }) => modseq),
      flags: Uint8Array.from(all, ({ flags }) => flags),
      keywords: new Map(all.filter(({ keywords }) => keywords.length > 0).map(({ uid, keywords }) => [uid, keywords])),
    };
  }

  async claimRecent(folderId: number, uidValidity: number, uidNext: number): Promise<void> {
    this.#trouble();
    const folder = this.#folders.get(folderId);
    if (folder?.uidValidity === uidValidity) folder.recentFrom = Math.max(folder.recentFrom, uidNext);
  }

  async changes(folderId: number, since: number): Promise<FolderChanges | 'too-old' | undefined> {
    this.#trouble();
    const folder = this.#folders.get(folderId);
    if (folder === undefined) return undefined;
    if (since < folder.prunedModseq) return 'too-old';
    return {
      highestModseq: folder.modseq,
      uidNext: folder.uidNext,
      changed: [...folder.placements.values()].filter(({ modseq }) => modseq > since).map(stateOf),
      vanished: [...folder.tombstones]
        .filter(([, modseq]) => modseq > since)
        .map(([uid]) => uid)
        .sort((a, b) => a - b),
    };
  }

  async vanishedSince(folderId: number, since: number) {
    const folder = this.#need(folderId);
    if (since < folder.prunedModseq) return 'too-old' as const;
    return [...folder.tombstones]
      .filter(([, modseq]) => modseq > since)
      .map(([uid]) => uid)
      .sort((a, b) => a - b);
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
    for (const { content, flags, keywords, internalDate } of messages) {
      const message = this.#store(Buffer.from(await content.bytes()));
      uids.push(this.#place(folder, message, internalDate ?? this.now, flags, keywords));
    }
    this.#wake(folder);
    return { uidValidity: folder.uidValidity, uids };
  }

  /** A delivery: what another door does. @returns the UID */
  deliver(
    folderName: string,
    text: string,
    placed: Partial<Pick<Placement, 'flags' | 'keywords' | 'internalDate'>> = {},
  ) {
    const folder = this.#byName(folderName);
    if (folder === undefined) throw new Error(`no folder ${folderName}`);
    folder.modseq++;
    const message = this.#store(Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1'));
    const uid = this.#place(folder, message, placed.internalDate ?? this.now, placed.flags ?? 0, placed.keywords ?? []);
    this.#wake(folder);
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
    folder.prunedModseq = folder.modseq;
    folder.tombstones.clear();
  }

  #store(bytes: Buffer): StoredMessage {
    const number = this.#nextMessage++;
    const message = { id: `msg_${number}`, threadId: `thr_${number}`, bytes, read: readMessage(bytes) };
    this.#messages.set(message.id, message);
    return message;
  }

  #place(
    folder: MemoryFolder,
    message: StoredMessage,
    internalDate: Date,
    flags: number,
    keywords: readonly string[],
  ): number {
    const uid = folder.uidNext++;
    const { modseq } = folder;
    folder.placements.set(uid, { uid, message, internalDate, saveDate: this.now, flags, keywords, modseq });
    return uid;
  }

  async storeFlags({ folderId, uids, change, flags, keywords, unchangedSince }: StoreFlags): Promise<StoredFlags> {
    this.#trouble();
    const folder = this.#need(folderId);
    const states: PlacementState[] = [];
    const modified: number[] = [];
    const missing: number[] = [];
    const next = folder.modseq + 1;
    for (const uid of uids) {
      const placement = folder.placements.get(uid);
      if (placement === undefined) missing.push(uid);
      else if (unchangedSince !== null && placement.modseq > unchangedSince) modified.push(uid);
      else {
        const lower = new Set(keywords.map((word) => word.toLowerCase()));
        const others = placement.keywords.filter((word) => !lower.has(word.toLowerCase()));
        const has = new Set(placement.keywords.map((word) => word.toLowerCase()));
        const fresh = keywords.filter((word) => !has.has(word.toLowerCase()));
        const newFlags =
          change === 'replace' ? flags : change === 'add' ? placement.flags | flags : placement.flags & ~flags;
        const newKeywords =
          change === 'replace' ? keywords : change === 'add' ? [...placement.keywords, ...fresh] : others;
        const same =
          newFlags === placement.flags && [...newKeywords].sort().join() === [...placement.keywords].sort().join();
        if (!same) {
          placement.flags = newFlags;
          placement.keywords = newKeywords;
          placement.modseq = next;
          folder.modseq = next;
        }
        states.push(stateOf(placement));
      }
    }
    this.#wake(folder);
    return { states, modified, missing, highestModseq: folder.modseq };
  }

  async copy(folderId: number, uids: readonly number[], toFolderId: number, complete = false): Promise<CopiedUids> {
    this.#trouble();
    const folder = this.#need(folderId);
    const target = this.#need(toFolderId);
    const sources = uids.flatMap((uid) => folder.placements.get(uid) ?? []);
    if (complete && sources.length < uids.length) throw new StoreRefused('gone', 'Some of the messages are gone');
    const total = sources.reduce((sum, { message }) => sum + message.bytes.length, 0);
    if (this.#usedBytes + total > this.quotaBytes) throw new StoreRefused('over-quota', 'The mailbox is full');
    const to: number[] = [];
    if (sources.length > 0) target.modseq++;
    for (const { message, internalDate, flags, keywords } of sources)
      to.push(this.#place(target, message, internalDate, flags, keywords));
    this.#wake(target);
    return { uidValidity: target.uidValidity, from: sources.map(({ uid }) => uid), to };
  }

  #remove(folder: MemoryFolder, uids: readonly number[]): void {
    if (uids.length === 0) return;
    folder.modseq++;
    for (const uid of uids) {
      folder.placements.delete(uid);
      folder.tombstones.set(uid, folder.modseq);
    }
    this.#wake(folder);
  }

  async move(folderId: number, uids: readonly number[], toFolderId: number, complete = false) {
    const used = this.quotaBytes;
    this.quotaBytes = Number.MAX_SAFE_INTEGER;
    try {
      const copied = await this.copy(folderId, uids, toFolderId, complete);
      const folder = this.#need(folderId);
      this.#remove(folder, copied.from);
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
    this.#remove(folder, removed);
    return { uids: removed, highestModseq: folder.modseq };
  }

  async replace(folderId: number, uid: number, toFolderId: number, message: AppendMessage) {
    const folder = this.#need(folderId);
    if (!folder.placements.has(uid)) throw new StoreRefused('gone', 'The message is gone');
    const { uidValidity, uids } = await this.append(toFolderId, [message]);
    this.#remove(folder, [uid]);
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

const stateOf = ({ uid, modseq, flags, keywords }: Placement): PlacementState => ({ uid, modseq, flags, keywords });

function rowOf({ uid, message, internalDate, saveDate }: Placement, want: MessageColumns): MessageRow {
  const { id, threadId, bytes, read } = message;
  return {
    uid,
    messageId: id,
    threadId,
    internalDate,
    saveDate,
    size: bytes.length,
    ...(want.envelope ? { envelope: read.envelope } : {}),
    ...(want.bodyStructure ? { bodyStructure: read.bodyStructure } : {}),
    ...(want.parts ? { parts: read.parts } : {}),
    ...(want.preview ? { preview: read.preview } : {}),
    ...(want.sortKeys ? { sortKeys: sortKeysOf(message) } : {}),
  };
}

function sortKeysOf({ bytes, read }: StoredMessage) {
  const fields = headerFields(bytes, read.parts.header, read.parts.body);
  const first = (name: string) => {
    const entry = parseAddresses(firstValue(fields, name) ?? '').find(({ kind }) => kind === 'address');
    return entry?.kind === 'address'
      ? { name: decodeWords(entry.name ?? ''), mailbox: decodeWords(entry.local), host: entry.host }
      : { name: '', mailbox: '' };
  };
  return {
    subject: read.subject,
    from: first('from'),
    to: first('to'),
    cc: first('cc'),
    sentAt: read.sentAt ?? null,
    messageIdHeader: read.messageId ?? '',
  };
}

function matches(placement: Placement, query: ContentQuery): boolean {
  const { message, uid } = placement;
  const { bytes, read } = message;
  const has = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());
  const fields = () => headerFields(bytes, read.parts.header, read.parts.body);
  const within = (time: number | undefined, from: number | null, before: number | null) =>
    time !== undefined && (from === null || time >= from) && (before === null || time < before);
  switch (query.kind) {
    case 'and':
      return query.of.every((each) => matches(placement, each));
    case 'or':
      return query.of.some((each) => matches(placement, each));
    case 'not':
      return !matches(placement, query.of);
    case 'header':
      return fields().some(({ name, value }) => name === query.field && has(decodeWords(value), query.text));
    case 'body':
      return has(messageText(bytes, read.parts).text, query.text);
    case 'text':
      return (
        has(messageText(bytes, read.parts).text, query.text) ||
        fields().some(({ name, value }) => has(`${name}: ${decodeWords(value)}`, query.text))
      );
    case 'larger':
      return bytes.length > query.bytes;
    case 'smaller':
      return bytes.length < query.bytes;
    case 'internal-date':
      return within(placement.internalDate.getTime(), query.from, query.before);
    case 'save-date':
      return within(placement.saveDate.getTime(), query.from, query.before);
    case 'sent-date':
      return within(read.sentAt?.getTime(), query.from, query.before);
    case 'message-id':
      return message.id === query.id;
    case 'thread-id':
      return message.threadId === query.id;
    case 'uids':
      return query.uids.includes(uid);
  }
}
