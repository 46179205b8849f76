/**
 * The same items, each requested while the caller still processes the previous one: reading and writing overlap, and at
 * most one item waits. A read error is thrown when its item is requested.
 */
export async function* readAhead<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item> {
  const items = source[Symbol.asyncIterator]();
  const read = () => {
    const item = items.next();
    item.catch(() => {}); // the caller may go away before it asks for this one
    return item;
  };
  let next = read();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) return;
      next = read();
      yield value;
    }
  } finally {
    void items.return?.().catch(() => {});
  }
}
