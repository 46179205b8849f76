/**
 * Sequence numbers and UIDs: the sets in which a client writes them, and the map from its numbers to messages.
 *
 *     set       `1:3,7,10:*` (RFC 9051 §9, `sequence-set`), or `$`, the result of a saved search (RFC 5182)
 *     range     [low, high] as written, where each may be `*`; normalized: ascending, apart, without `*`
 *     index     position in the map; the message with sequence number n is at index n - 1
 *     the map   what one client believes to be in its folder. Sequence numbers are stored nowhere else
 *
 * Of a message the map has 13 bytes: UID, MODSEQ, flags; keywords only of messages that have some. The arrays of the view
 * it was made from are shared by all sessions of the folder until the first change.
 */
import type { FolderView, PlacementState } from '@agent-mailbox/mail-store';
import { SET_RANGES_MAX } from '#imap/limits.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** `*`: the largest number in use. */
export const STAR = Number.POSITIVE_INFINITY;

export type Range = readonly [low: number, high: number];

export type SequenceSet =
  | { readonly kind: 'ranges'; readonly ranges: readonly Range[] }
  /** `$`: the saved search result (RFC 5182). */
  | { readonly kind: 'saved' };

const bound = (scan: Scanner): number => (scan.skip('*') ? STAR : scan.number(1));

/** @param savedAllowed whether `$` is allowed here */
export function parseSequenceSet(scan: Scanner, savedAllowed = true): SequenceSet {
  if (savedAllowed && scan.skip('$')) return { kind: 'saved' };
  const ranges: Range[] = [];
  do {
    if (ranges.length >= SET_RANGES_MAX) scan.fail(`at most ${SET_RANGES_MAX} ranges`);
    const low = bound(scan);
    ranges.push([low, scan.skip(':') ? bound(scan) : low]);
  } while (scan.skip(','));
  return { kind: 'ranges', ranges };
}

/** Ascending ranges that neither touch nor overlap, with `*` replaced by `largest`. */
export function normalize(ranges: readonly Range[], largest: number): Range[] {
  const fixed = ranges
    .map(([a, b]): [number, number] => {
      const low = a === STAR ? largest : a;
      const high = b === STAR ? largest : b;
      return low <= high ? [low, high] : [high, low];
    })
    .sort(([a], [b]) => a - b);
  const merged: [number, number][] = [];
  for (const range of fixed) {
    const last = merged.at(-1);
    if (last !== undefined && range[0] <= last[1] + 1) last[1] = Math.max(last[1], range[1]);
    else merged.push(range);
  }
  return merged;
}

/** Whether a number is in normalized ranges. */
export function contains(ranges: readonly Range[], value: number): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined) return false;
    if (value < range[0]) high = middle - 1;
    else if (value > range[1]) low = middle + 1;
    else return true;
  }
  return false;
}

/** Numbers of `within` (normalized ranges) that do not occur in `present` (ascending). */
export function missingRanges(within: readonly Range[], present: ArrayLike<number>): Range[] {
  const missing: Range[] = [];
  let at = 0;
  for (const [low, high] of within) {
    let next = low;
    while (at < present.length && (present[at] ?? 0) < low) at++;
    for (; at < present.length && (present[at] ?? 0) <= high; at++) {
      const value = present[at] ?? 0;
      if (value > next) missing.push([next, value - 1]);
      next = value + 1;
    }
    if (next <= high) missing.push([next, high]);
  }
  return missing;
}

export const printRanges = (ranges: readonly Range[]): string =>
  ranges.map(([low, high]) => (low === high ? `${low}` : `${low}:${high}`)).join(',');

/** Prints numbers; runs of ascending neighbours become ranges, the order does not change. */
export function printSet(numbers: ArrayLike<number>): string {
  const parts: string[] = [];
  for (let i = 0; i < numbers.length; ) {
    const low = numbers[i] ?? 0;
    let high = low;
    for (i++; i < numbers.length && numbers[i] === high + 1; i++) high++;
    parts.push(low === high ? `${low}` : `${low}:${high}`);
  }
  return parts.join(',');
}

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

  /** Whether each message is in the set; numbers out of range match nothing: SEARCH. */
  filter(ranges: readonly Range[], byUid: boolean): (index: number) => boolean {
    const normal = normalize(ranges, byUid ? this.lastUid : this.#count);
    return (index) => contains(normal, byUid ? this.uidAt(index) : index + 1);
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
