/**
 * The same items, each asked for while the caller still works on the one before: reading and writing overlap, and no
 * more than one item waits. A failure to read shows when its turn comes.
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
