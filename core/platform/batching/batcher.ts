/**
 * Lets concurrent requests share a transaction: the cost of begin, commit and fsync is paid once for all of them.
 *
 *   add ─▶ waiting ──a place is free, the policy chooses──▶ running ──committed──▶ outcomes
 *                                                              └──failed──▶ each item once more, alone
 *
 * An item that arrives while nothing runs is carried out at once and alone, unless the policy gathers, so an idle
 * service answers as fast as without this. While batches run, further items wait and are combined in the next. If a
 * batch fails, its items are carried out one by one, so that one item cannot make others fail.
 *
 * The two policies of a batcher (`batcher.ts`): which of the waiting items are carried out together.
 */

import { currentTraceContext, inTraceContext } from '#core/platform/tracing/trace.ts';

export interface Batcher<Item, Outcome> {
  /** Resolves when the batch of the item is carried out. @throws what its transaction throws, when it is alone in it */
  add(item: Item): Promise<Outcome>;
  /** Resolves when nothing is waiting or running. */
  idle(): Promise<void>;
}

export interface BatcherOptions<Item, Outcome> {
  /** Carries out all items in one transaction. @returns outcomes in the order of the items */
  readonly carryOut: (items: readonly Item[]) => Promise<readonly Outcome[]>;
  readonly policy: BatchPolicy<Item>;
  /** Batches that run at once. */
  readonly concurrency: number;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  /** Of the trace in which it was added. */
  readonly context: string | undefined;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

export function batcher<Item, Outcome>(options: BatcherOptions<Item, Outcome>): Batcher<Item, Outcome> {
  const { carryOut, policy, concurrency } = options;
  let waiting: Waiting<Item, Outcome>[] = [];
  const running = new Set<readonly Waiting<Item, Outcome>[]>();
  let gathering: NodeJS.Timeout | undefined;
  let idleListeners: (() => void)[] = [];

  const itemsOf = (batch: readonly Waiting<Item, Outcome>[]): Item[] => batch.map(({ item }) => item);

  /** @returns undefined: nothing that waits can begin now */
  function takeBatch(): readonly Waiting<Item, Outcome>[] | undefined {
    const chosen = new Set(policy.choose(itemsOf(waiting), [...running].flatMap(itemsOf)));
    if (chosen.size === 0) return undefined;
    const batch = waiting.filter((_, i) => chosen.has(i));
    waiting = waiting.filter((_, i) => !chosen.has(i));
    return batch;
  }

  function next(): void {
    while (running.size < concurrency && waiting.length > 0) {
      const gatherMs = policy.gatherMs?.(waiting.length);
      if (gatherMs !== undefined) {
        gathering ??= setTimeout(() => {
          gathering = undefined;
          if (begin()) next();
        }, gatherMs);
        return;
      }
      clearTimeout(gathering);
      gathering = undefined;
      if (!begin()) return;
    }
  }

  function begin(): boolean {
    const batch = takeBatch();
    if (batch === undefined) return false;
    running.add(batch);
    void settle(batch).finally(() => {
      running.delete(batch);
      next();
      if (isIdle()) for (const listener of idleListeners.splice(0)) listener();
    });
    return true;
  }

  const isIdle = (): boolean => running.size === 0 && waiting.length === 0;

  async function settle(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      // A batch of several belongs to no trace.
      const context = batch.length === 1 ? batch[0]?.context : undefined;
      const outcomes = await inTraceContext(context, () => carryOut(itemsOf(batch)));
      for (const [i, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[i];
        if (outcome === undefined) reject(new Error('a batch returned fewer outcomes than it had items'));
        else resolve(outcome);
      }
    } catch (error) {
      if (batch.length === 1) for (const { reject } of batch) reject(error);
      else for (const alone of batch) await settle([alone]);
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, context: currentTraceContext(), resolve, reject });
        next();
      }),
    idle() {
      if (isIdle()) return Promise.resolve();
      return new Promise((resolve) => {
        idleListeners = [...idleListeners, resolve];
      });
    },
  };
}

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
