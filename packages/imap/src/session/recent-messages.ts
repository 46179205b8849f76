/**
 * The messages that are \\Recent to one session (RFC 3501 §2.3.2): ranges of UIDs that it was the first to be notified
 * of.
 */
import type { SequenceMap } from './sequence-numbers.ts';

export class RecentMessages {
  /** Ascending and apart; `to` does not belong to its range. */
  readonly #ranges: { readonly from: number; to: number }[] = [];
  /** UIDs below were checked: they are in a range, or belong to another session. */
  end: number;

  constructor(from: number, to: number) {
    this.end = from;
    this.add(from, to);
  }

  /** UIDs from `from` to before `to`, none of which was checked before. */
  add(from: number, to: number): void {
    if (to > this.end) this.end = to;
    if (from >= to) return;
    const last = this.#ranges.at(-1);
    if (last?.to === from) last.to = to;
    else this.#ranges.push({ from, to });
  }

  has(uid: number): boolean {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranges[middle]?.to ?? 0) <= uid) low = middle + 1;
      else high = middle;
    }
    return uid >= (this.#ranges[low]?.from ?? Number.POSITIVE_INFINITY);
  }

  countIn(map: SequenceMap): number {
    return this.#ranges.reduce((sum, { from, to }) => sum + map.lowerBound(to) - map.lowerBound(from), 0);
  }
}
