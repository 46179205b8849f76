/**
 * What one client believes to be in its folder: the message with sequence number n is at index n - 1. Sequence numbers
 * are stored nowhere else. The arrays of the view it was made from are shared until the first change.
 */
import type { FolderView, PlacementState } from '@agent-mailbox/mail-store';
import { contains, normalize, type Range } from './sequence-set.ts';

const NO_KEYWORDS: readonly string[] = [];
const GROWTH = 64;

export class SequenceMap {
  #uids: Uint32Array;
  #modseqs: Float64Array;
  #flags: Uint8Array;
  #keywords: Map<number, readonly string[]>;
  #count: number;
  #owned = false;

  constructor(view: Pick<FolderView, 'uids' | 'modseqs' | 'flags' | 'keywords'>) {
    this.#uids = view.uids;
    this.#modseqs = view.modseqs;
    this.#flags = view.flags;
    this.#keywords = new Map(view.keywords);
    this.#count = view.uids.length;
  }

  get count(): number {
    return this.#count;
  }

  /** 0 when empty. */
  get lastUid(): number {
    return this.#count === 0 ? 0 : this.uidAt(this.#count - 1);
  }

  /** Ascending; valid until the next change. */
  get uids(): Uint32Array {
    return this.#uids.subarray(0, this.#count);
  }

  uidAt(index: number): number {
    return this.#uids[index] ?? 0;
  }

  modseqAt(index: number): number {
    return this.#modseqs[index] ?? 0;
  }

  flagsAt(index: number): number {
    return this.#flags[index] ?? 0;
  }

  /** Number of messages that have a flag, a bit of `MAIL_FLAGS`. */
  countFlag(flag: number): number {
    let count = 0;
    for (let index = 0; index < this.#count; index++) if ((this.flagsAt(index) & flag) !== 0) count++;
    return count;
  }

  keywordsAt(index: number): readonly string[] {
    return this.#keywords.size === 0 ? NO_KEYWORDS : (this.#keywords.get(this.uidAt(index)) ?? NO_KEYWORDS);
  }

  /** Index of the first UID that is not lower. */
  lowerBound(uid: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#uids[middle] ?? 0) < uid) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Index of a UID, or -1. */
  indexOf(uid: number): number {
    const index = this.lowerBound(uid);
    return index < this.#count && this.#uids[index] === uid ? index : -1;
  }

  /** @param state of a UID above all that are in the map */
  append(state: PlacementState): void {
    this.#own(1);
    this.#uids[this.#count] = state.uid;
    this.#count++;
    this.#set(this.#count - 1, state);
  }

  set(index: number, state: PlacementState): void {
    this.#own(0);
    this.#set(index, state);
  }

  /** Removes messages; later ones move up by number. @param indices ascending */
  remove(indices: readonly number[]): void {
    const [first] = indices;
    if (first === undefined) return;
    this.#own(0);
    let next = 0;
    let to = first;
    for (let from = first; from < this.#count; from++) {
      if (indices[next] === from) {
        this.#keywords.delete(this.uidAt(from));
        next++;
        continue;
      }
      this.#uids[to] = this.#uids[from] ?? 0;
      this.#modseqs[to] = this.#modseqs[from] ?? 0;
      this.#flags[to] = this.#flags[from] ?? 0;
      to++;
    }
    this.#count = to;
  }

  /** Indices of the UIDs in the set, ascending. `*` is the last message. */
  indicesOfUids(ranges: readonly Range[]): number[] {
    const indices: number[] = [];
    if (this.#count === 0) return indices;
    for (const [low, high] of normalize(ranges, this.lastUid))
      for (let i = this.lowerBound(low); i < this.#count && this.uidAt(i) <= high; i++) indices.push(i);
    return indices;
  }

  /** Indices of the sequence numbers in the set, ascending; undefined when one is out of range. */
  indicesOfNumbers(ranges: readonly Range[]): number[] | undefined {
    const indices: number[] = [];
    if (this.#count === 0 && ranges.every(([low, high]) => !Number.isFinite(low) || !Number.isFinite(high)))
      return indices;
    for (const [low, high] of normalize(ranges, this.#count)) {
      if (low < 1 || high > this.#count) return undefined;
      for (let i = low - 1; i < high; i++) indices.push(i);
    }
    return indices;
  }

  /** Whether each message is in the set, numbers out of range matching nothing: SEARCH. */
  numberFilter(ranges: readonly Range[]): (index: number) => boolean {
    const normal = normalize(ranges, this.#count);
    return (index) => contains(normal, index + 1);
  }

  #set(index: number, { uid, modseq, flags, keywords }: PlacementState): void {
    this.#modseqs[index] = modseq;
    this.#flags[index] = flags;
    if (keywords.length > 0) this.#keywords.set(uid, keywords);
    else this.#keywords.delete(uid);
  }

  #own(more: number): void {
    if (this.#owned && this.#count + more <= this.#uids.length) return;
    const size = this.#count + (more > 0 ? more + GROWTH + (this.#count >> 3) : 0);
    const uids = new Uint32Array(size);
    const modseqs = new Float64Array(size);
    const flags = new Uint8Array(size);
    uids.set(this.#uids.subarray(0, this.#count));
    modseqs.set(this.#modseqs.subarray(0, this.#count));
    flags.set(this.#flags.subarray(0, this.#count));
    this.#uids = uids;
    this.#modseqs = modseqs;
    this.#flags = flags;
    this.#owned = true;
  }
}
