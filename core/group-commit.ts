/**
 * Lets concurrent requests share a transaction.
 *
 * An item that comes while nothing runs is carried out at once and alone, so an idle service answers as fast as
 * without this. While a group is under way the next items gather, and go together when it is done: the cost of begin,
 * commit and fsync is paid once for all of them. A group that fails is carried out again item by item, so that nobody
 * suffers from a neighbour.
 */
export interface GroupCommitOptions<Item, Outcome> {
  /** Carries out all items in one transaction. @returns outcomes in the order of the items */
  readonly carryOut: (items: readonly Item[]) => Promise<readonly Outcome[]>;
  readonly maxItems: number;
  /** Groups under way at once. */
  readonly concurrency: number;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export function groupCommit<Item, Outcome>(
  options: GroupCommitOptions<Item, Outcome>,
): (item: Item) => Promise<Outcome> {
  let waiting: Waiting<Item, Outcome>[] = [];
  let running = 0;

  async function settle(group: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await options.carryOut(group.map(({ item }) => item));
      for (const [index, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error('a group returned fewer outcomes than it had items'));
        else resolve(outcome);
      }
    } catch (error) {
      if (group.length === 1) for (const { reject } of group) reject(error);
      else for (const alone of group) await settle([alone]);
    }
  }

  function next(): void {
    while (running < options.concurrency && waiting.length > 0) {
      const group = waiting.slice(0, options.maxItems);
      waiting = waiting.slice(options.maxItems);
      running++;
      void settle(group).finally(() => {
        running--;
        next();
      });
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      next();
    });
}
