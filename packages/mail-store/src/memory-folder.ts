/** A folder of the mailbox in memory: UIDs, MODSEQs, changes and tombstones. */
import { MAIL_FLAGS } from './flags.ts';
import type {
  Folder,
  FolderChanges,
  FolderView,
  PlacementState,
  SpecialUse,
  StoredFlags,
  StoreFlags,
} from './interface.ts';
import { type Placement, type StoredMessage, stateOf } from './memory-message.ts';

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
