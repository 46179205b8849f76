/**
 * What test files of one process share because it is slow to start: a browser, a whole service. The first file that
 * needs it opens it; it is closed when all tests of the process are over (`leak-guard.ts`).
 */

const closers: (() => unknown)[] = [];

/** Opens something once per process. */
export function kept<Thing>(open: () => Promise<Thing>, close: (thing: Thing) => unknown): () => Promise<Thing> {
  let opened: Promise<Thing> | undefined;
  return () => {
    if (opened === undefined) {
      opened = open();
      const thing = opened;
      // What did not open needs no end.
      closers.push(() => thing.then(close, () => {}));
    }
    return opened;
  };
}

/** How many things are kept. */
export const keptCount = (): number => closers.length;

/** Closes what is kept, the last first. */
export async function closeKept(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}
