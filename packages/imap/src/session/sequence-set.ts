/** Sets of sequence numbers or UIDs (RFC 9051 §9, `sequence-set`): parsing, clamping, printing. */
import { SET_RANGES_MAX } from '#imap/limits.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** `*`: the largest number in use. */
export const STAR = Number.POSITIVE_INFINITY;

export type Range = readonly [low: number, high: number];

export type SequenceSet =
  | { readonly kind: 'ranges'; readonly ranges: readonly Range[] }
  /** `$`: the saved search result (RFC 5182). */
  | { readonly kind: 'saved' };

function bound(scan: Scanner): number {
  return scan.skip('*') ? STAR : scan.number(1);
}

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
