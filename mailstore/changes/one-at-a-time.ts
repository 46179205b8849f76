import { semaphoreByKey } from '#core/platform/batching/semaphore.ts';

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
