/** The two policies of a batcher (`batcher.ts`): which of the waiting items are carried out together. */

/** The items of a batch, as indices of those that wait. Empty: none of them can begin now. */
export interface BatchPolicy<Item> {
  /**
   * @param waiting oldest first, at least one
   * @param running those being carried out now
   */
  choose(waiting: readonly Item[], running: readonly Item[]): readonly number[];
  /** Milliseconds to wait for more before a batch begins; undefined: it begins at once. Asked again as more arrive. */
  gatherMs?(waiting: number): number | undefined;
}

/**
 * All waiting items, oldest first, up to a maximum number.
 *
 * @param gatherMs how long a batch that is not full gathers; default: it begins at once
 */
export const inOrder = (maxItems: number, gatherMs?: number): BatchPolicy<unknown> => ({
  choose: (waiting) => Array.from({ length: Math.min(maxItems, waiting.length) }, (_, i) => i),
  gatherMs: (waiting) => (gatherMs === undefined ? undefined : waiting >= maxItems ? 0 : gatherMs),
});

/** The keys that an item must not share with others, and its size. */
export interface KeyedItem {
  readonly keys: readonly string[];
  readonly bytes: number;
}

/**
 * One writer per key at a time: an item waits while one of its keys is being written or waited for by an older item.
 * Items of free keys pass it. An item with several keys is carried out alone.
 */
export const oneWriterPerKey = <Item>(
  of: (item: Item) => KeyedItem,
  max: { readonly items: number; readonly bytes: number },
): BatchPolicy<Item> => ({
  choose(waiting, running) {
    const taken = new Set(running.flatMap((item) => of(item).keys));
    const batch: number[] = [];
    const passedOver = new Set<string>();
    let bytes = 0;
    for (const [i, item] of waiting.entries()) {
      const { keys, bytes: size } = of(item);
      const isAlone = keys.length > 1;
      const isBlocked = keys.some((key) => taken.has(key) || passedOver.has(key));
      const fits = batch.length === 0 || (!isAlone && bytes + size <= max.bytes);
      if (isBlocked || !fits) {
        for (const key of keys) passedOver.add(key);
        continue;
      }
      batch.push(i);
      bytes += size;
      if (isAlone || batch.length >= max.items) break;
    }
    return batch;
  },
});
