/**
 * Long computing in portions, so that other connections of the process are served between them. Portions are counted
 * in steps, each about a comparison, not in time: how often others have their turn does not depend on the machine.
 */

/** A few milliseconds. */
const STEPS_IN_TURN = 5_000;

export class Turns {
  #steps = 0;

  /** @returns whether others are to be let in by `next` before more is done */
  take(steps = 1): boolean {
    this.#steps += steps;
    return this.#steps >= STEPS_IN_TURN;
  }

  async next(): Promise<void> {
    this.#steps = 0;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

const SORTED_AT_ONCE = 1_024;
const STEPS_OF_SORTING = SORTED_AT_ONCE * 10;

/** A sorted copy; equal items keep their order. */
export async function sortInTurns<Item extends object>(
  items: Iterable<Item>,
  compare: (a: Item, b: Item) => number,
  turns = new Turns(),
): Promise<Item[]> {
  const all = [...items];
  let runs: Item[][] = [];
  for (let at = 0; at < all.length; at += SORTED_AT_ONCE) {
    runs.push(all.slice(at, at + SORTED_AT_ONCE).sort(compare));
    if (turns.take(STEPS_OF_SORTING)) await turns.next();
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(await merge(runs[i] ?? [], runs[i + 1] ?? [], compare, turns));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<Item extends object>(
  a: readonly Item[],
  b: readonly Item[],
  compare: (a: Item, b: Item) => number,
  turns: Turns,
): Promise<Item[]> {
  const merged: Item[] = [];
  let at = 0;
  for (const item of a) {
    for (let other = b[at]; other !== undefined && compare(other, item) < 0; other = b[++at]) {
      merged.push(other);
      if (turns.take()) await turns.next();
    }
    merged.push(item);
    if (turns.take()) await turns.next();
  }
  return merged.concat(b.slice(at));
}
