/** A folder of the mailbox in memory (UIDs, MODSEQs, changes, tombstones) and its messages: their rows, and whether a search finds them. */

import { parseAddresses } from '@agent-mailbox/mime-structure/addresses';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { bodyParts, partText } from '@agent-mailbox/mime-structure/parts';
import type { MessageStructure } from '@agent-mailbox/mime-structure/read-structure';
import { MAIL_FLAGS } from './flags.ts';
import { copyLines, headerIndex, isListed, wantedFields } from './header-index.ts';
import type {
  ContentQuery,
  Folder,
  FolderChanges,
  FolderView,
  ListedMessages,
  MessageColumns,
  MessageRow,
  PlacementState,
  SpecialUse,
  StoredFlags,
  StoreFlags,
} from './interface.ts';
import { PREVIEW_MAX_CHARACTERS } from './limits.ts';
import { markupText } from './markup-text.ts';
import { searchText, textMatches } from './search-text.ts';

export type PlacedAs = Pick<Placement, 'internalDate' | 'internalOffsetMinutes' | 'saveDate' | 'flags' | 'keywords'>;

/** The folders of a new mailbox with their uses; the first is there in any case. */
export const STANDARD_FOLDERS: readonly [string, SpecialUse][] = [
  ['INBOX', '\\Inbox'],
  ['Sent', '\\Sent'],
  ['Drafts', '\\Drafts'],
  ['Archive', '\\Archive'],
  ['Junk', '\\Junk'],
  ['Trash', '\\Trash'],
];

export class MemoryFolder {
  readonly id: number;
  readonly specialUse: SpecialUse | null;
  readonly uidValidity: number;
  name: string;
  uidNext = 1;
  modseq = 1;
  recentFrom = 1;
  /** Ascending UIDs. */
  readonly placements = new Map<number, Placement>();
  readonly tombstones = new Map<number, number>();
  readonly watchers = new Set<() => void>();
  /** Changes below are forgotten. */
  #prunedModseq = 0;

  constructor(id: number, name: string, specialUse: SpecialUse | null, uidValidity: number) {
    this.id = id;
    this.name = name;
    this.specialUse = specialUse;
    this.uidValidity = uidValidity;
  }

  wake(): void {
    for (const wake of this.watchers) wake();
  }

  shown(): Folder {
    const all = [...this.placements.values()];
    return {
      id: this.id,
      objectId: `F${this.id}`,
      name: this.name,
      specialUse: this.specialUse,
      uidValidity: this.uidValidity,
      uidNext: this.uidNext,
      highestModseq: this.modseq,
      total: all.length,
      unseen: all.filter(({ flags }) => (flags & MAIL_FLAGS.seen) === 0).length,
      deleted: all.filter(({ flags }) => (flags & MAIL_FLAGS.deleted) !== 0).length,
      bytes: all.reduce((sum, { message }) => sum + message.bytes.length, 0),
      recentFrom: this.recentFrom,
    };
  }

  view(claimRecent: boolean): FolderView {
    const folder = this.shown();
    if (claimRecent) this.recentFrom = this.uidNext;
    const all = [...this.placements.values()];
    return {
      folder,
      uids: Uint32Array.from(all, ({ uid }) => uid),
      modseqs: Float64Array.from(all, ({ modseq }) => modseq),
      flags: Uint8Array.from(all, ({ flags }) => flags),
      keywords: new Map(all.filter(({ keywords }) => keywords.length > 0).map(({ uid, keywords }) => [uid, keywords])),
    };
  }

  claimRecent(claimBelow: number | null): number {
    const { recentFrom } = this;
    if (claimBelow === null) return recentFrom;
    if (recentFrom >= claimBelow) return Number.MAX_SAFE_INTEGER;
    this.recentFrom = claimBelow;
    return recentFrom;
  }

  changes(since: number): FolderChanges | 'too-old' {
    const vanished = this.vanishedSince(since);
    if (vanished === 'too-old') return vanished;
    return {
      highestModseq: this.modseq,
      uidNext: this.uidNext,
      changed: [...this.placements.values()].filter(({ modseq }) => modseq > since).map(stateOf),
      vanished,
    };
  }

  vanishedSince(since: number): readonly number[] | 'too-old' {
    if (since < this.#prunedModseq) return 'too-old';
    return [...this.tombstones]
      .filter(([, modseq]) => modseq > since)
      .map(([uid]) => uid)
      .sort((a, b) => a - b);
  }

  /** Forgets the changes up to now. */
  prune(): void {
    this.#prunedModseq = this.modseq;
    this.tombstones.clear();
  }

  /** @returns the UID, which has the present MODSEQ of the folder */
  place(message: StoredMessage, as: PlacedAs): number {
    const uid = this.uidNext++;
    const { internalDate, internalOffsetMinutes, saveDate, flags, keywords } = as;
    const { modseq } = this;
    this.placements.set(uid, {
      uid,
      message,
      internalDate,
      internalOffsetMinutes,
      saveDate,
      flags,
      keywords,
      modseq,
    });
    return uid;
  }

  remove(uids: readonly number[]): void {
    if (uids.length === 0) return;
    this.modseq++;
    for (const uid of uids) {
      this.placements.delete(uid);
      this.tombstones.set(uid, this.modseq);
    }
    this.wake();
  }

  storeFlags({ uids, change, flags, keywords, unchangedSince }: StoreFlags): StoredFlags {
    const states: PlacementState[] = [];
    const modified: number[] = [];
    const missing: number[] = [];
    const next = this.modseq + 1;
    for (const uid of uids) {
      const placement = this.placements.get(uid);
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
          this.modseq = next;
        }
        states.push(stateOf(placement));
      }
    }
    this.wake();
    return { states, modified, missing, highestModseq: this.modseq };
  }
}

export interface StoredMessage {
  readonly id: string;
  readonly threadId: string;
  readonly bytes: Buffer;
  readonly read: MessageStructure;
  readonly preview: string;
}

export interface Placement {
  readonly uid: number;
  readonly message: StoredMessage;
  readonly internalDate: Date;
  readonly internalOffsetMinutes: number;
  readonly saveDate: Date;
  flags: number;
  keywords: readonly string[];
  modseq: number;
}

export const stateOf = ({ uid, modseq, flags, keywords }: Placement): PlacementState => ({
  uid,
  modseq,
  flags,
  keywords,
});

export function rowOf(
  { uid, message, internalDate, internalOffsetMinutes, saveDate }: Placement,
  want: MessageColumns,
): MessageRow {
  const { id, threadId, bytes, read } = message;
  return {
    uid,
    messageId: id,
    threadId,
    internalDate,
    internalOffsetMinutes,
    saveDate,
    size: bytes.length,
    ...(want.envelope ? { envelope: read.envelope } : {}),
    ...(want.bodyStructure ? { bodyStructure: read.bodyStructure } : {}),
    ...(want.parts ? { parts: read.parts } : {}),
    ...(want.preview ? { preview: message.preview } : {}),
    ...(want.sortKeys ? { sortKeys: sortKeysOf(message) } : {}),
  };
}

/** @see MailboxStore.listed */
export function listedOf(
  placements: ReadonlyMap<number, Placement> | undefined,
  uids: Uint32Array,
  fields: readonly string[],
): ListedMessages {
  const wanted = wantedFields(fields);
  if (wanted === undefined) throw new Error('a header field is not listed');
  const found = [...uids].flatMap((uid) => placements?.get(uid) ?? []);
  const lines: Uint8Array[] = [];
  const indexed = new Uint8Array(found.length);
  const ends = new Uint32Array(found.length);
  let end = 0;
  for (const [i, { message }] of found.entries()) {
    const { lines: short, longLines: long } = headerIndex(message.bytes, message.read.parts);
    const ranges = [short, long].map((bytes) => ({ bytes, from: 0, to: bytes.length }));
    const [shortRange, longRange] = ranges;
    if (shortRange !== undefined && isListed(shortRange) && (!wanted.long || (longRange && isListed(longRange)))) {
      const target = Buffer.alloc(short.length + long.length);
      const size = copyLines(wanted, shortRange, wanted.long ? longRange : undefined, target, 0);
      lines.push(target.subarray(0, size));
      indexed[i] = 1;
      end += size;
    }
    ends[i] = end;
  }
  return {
    uids: Uint32Array.from(found, ({ uid }) => uid),
    sizes: Uint32Array.from(found, ({ message }) => message.bytes.length),
    internalDates: Float64Array.from(found, ({ internalDate }) => internalDate.getTime()),
    internalOffsets: Int16Array.from(found, ({ internalOffsetMinutes }) => internalOffsetMinutes),
    indexed,
    lines: Buffer.concat(lines, end),
    ends,
  };
}

function sortKeysOf({ bytes, read }: StoredMessage) {
  const fields = headerFields(bytes, read.parts.header, read.parts.body);
  const first = (name: string) => {
    const [entry] = parseAddresses(firstValue(fields, name) ?? '');
    if (entry?.kind === 'group-start') return { name: '', mailbox: decodeWords(entry.name) };
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
    messageIdHeader: Buffer.from(read.messageId ?? '').toString('latin1'),
  };
}

export function matches(placement: Placement, query: ContentQuery): boolean {
  const { message, uid } = placement;
  const { bytes, read } = message;
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
    case 'envelope':
    case 'body':
    case 'text':
      return textMatches(searchText(bytes, read.parts), query);
    case 'larger':
      return bytes.length > query.bytes;
    case 'smaller':
      return bytes.length < query.bytes;
    case 'internal-time':
      return within(placement.internalDate.getTime(), query.from, query.before);
    case 'internal-day':
      return within(
        placement.internalDate.getTime() + placement.internalOffsetMinutes * 60_000,
        query.from,
        query.before,
      );
    case 'save-date':
      return within(placement.saveDate.getTime(), query.from, query.before);
    case 'sent-date':
      return within(read.sentAt && read.sentAt.getTime() + read.sentOffsetMinutes * 60_000, query.from, query.before);
    case 'message-id':
      return message.id === query.id;
    case 'thread-id':
      return message.threadId === query.id;
    case 'uids':
      return query.uids.includes(uid);
  }
}

/** The beginning of what a reader sees, in one line (RFC 8970). */
export function previewOf(bytes: Uint8Array, root: PartNode): string {
  const { plain, html } = bodyParts(root);
  const texts =
    plain.length > 0
      ? plain.map(({ part }) => partText(bytes, part))
      : html.map(({ part }) => markupText(partText(bytes, part)));
  const line = texts.join(' ').replace(/\s+/g, ' ').trim();
  return [...line.slice(0, PREVIEW_MAX_CHARACTERS * 2)].slice(0, PREVIEW_MAX_CHARACTERS).join('').toWellFormed();
}
