/**
 * Items wait by their source, and sources take turns: however many items one of them adds, the next item of another is
 * taken after at most one of each source. A source without items takes no memory.
 */
export class FairQueue<Item> {
  /** In the order of their turns. */
  readonly #bySource = new Map<string, Item[]>();

  add(source: string, item: Item): void {
    const waiting = this.#bySource.get(source);
    if (waiting === undefined) this.#bySource.set(source, [item]);
    else waiting.push(item);
  }

  /** The oldest item of the source whose turn it is; undefined: nothing waits. */
  take(): Item | undefined {
    const [first] = this.#bySource;
    if (first === undefined) return undefined;
    const [source, waiting] = first;
    const item = waiting.shift();
    // Behind all others, when it has more.
    this.#bySource.delete(source);
    if (waiting.length > 0) this.#bySource.set(source, waiting);
    return item;
  }

  get isEmpty(): boolean {
    return this.#bySource.size === 0;
  }
}
