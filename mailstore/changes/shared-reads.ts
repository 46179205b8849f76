import { semaphoreByKey } from '#core/platform/batching/semaphore.ts';

/** Lets concurrent callers with the same question share one answer, such as all watchers of a folder. */
export function sharedReads<Result>(): (key: string, read: () => Promise<Result>) => Promise<Result> {
  const gathering = new Map<string, Promise<Result>>();
  return (key, read) => {
    let shared = gathering.get(key);
    if (shared === undefined) {
      // A caller that arrives after it has started may need a later commit, and gets the next answer.
      shared = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        gathering.delete(key);
        return read();
      });
      gathering.set(key, shared);
    }
    return shared;
  };
}

/**
 * Runs work of the same key one after another: calls that would wait for the same row locks wait here, without a
 * connection.
 */
export function oneAtATime(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const turns = semaphoreByKey(1);
  return async (key, work) => {
    const release = await turns.take(key);
    try {
      return await work();
    } finally {
      release();
    }
  };
}
