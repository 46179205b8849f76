/**
 * A number of places; callers that find none free wait in a queue, first come, first served.
 *
 * All code in this process that waits for one of several equal places uses it. Code that works differently:
 * `activities/endpoint-slots.ts` (kinds of attempts with different rights, which leave the queue when an endpoint gets slow),
 * `mail/connection-counter.ts` and `limit-connections.ts` (connections over a limit are refused and never wait), and
 * `mail/login/login-throttle.ts` (tokens that are used up and come back with time).
 */
/** Frees the place; calls after the first have no effect. */
export type Release = () => void;

export interface Patience {
  /** Milliseconds to wait at most. */
  readonly withinMs?: number;
  /** When it is aborted, no place is given any more. */
  readonly until?: AbortSignal;
}

export interface Semaphore {
  /** No place is taken. */
  readonly isIdle: boolean;
  /** Waits for a place. */
  take(): Promise<Release>;
  /** Waits for a place, but not for ever. @returns undefined: there was none in time */
  takeWithin(patience: Patience): Promise<Release | undefined>;
}

export function semaphore(places: number): Semaphore {
  let taken = 0;
  /** In order of arrival. */
  const waiting = new Set<() => void>();

  /** Of a place that is taken already. */
  function release(): Release {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const [next] = waiting;
      if (next === undefined) taken--;
      else {
        waiting.delete(next); // it takes over the place, so the number taken stays
        next();
      }
    };
  }

  async function takeWithin({ withinMs, until }: Patience): Promise<Release | undefined> {
    if (until?.aborted) return undefined;
    if (taken < places) {
      taken++;
      return release();
    }
    return new Promise((resolve) => {
      const end = (result: Release | undefined) => {
        waiting.delete(grant);
        clearTimeout(timer);
        until?.removeEventListener('abort', giveUp);
        resolve(result);
      };
      const grant = () => end(release());
      const giveUp = () => end(undefined);
      const timer = withinMs === undefined ? undefined : setTimeout(giveUp, withinMs);
      until?.addEventListener('abort', giveUp);
      waiting.add(grant);
    });
  }

  return {
    get isIdle() {
      return taken === 0;
    },
    takeWithin,
    async take() {
      const free = await takeWithin({});
      if (free === undefined) throw new Error('a wait without an end ended without a place');
      return free;
    },
  };
}

/** A semaphore for each key. One that is idle uses no memory. */
export interface SemaphoreByKey {
  take(key: string): Promise<Release>;
  takeWithin(key: string, patience: Patience): Promise<Release | undefined>;
}

export function semaphoreByKey(placesEach: number): SemaphoreByKey {
  const semaphores = new Map<string, Semaphore>();

  const of = (key: string): Semaphore => {
    const known = semaphores.get(key) ?? semaphore(placesEach);
    semaphores.set(key, known);
    return known;
  };
  const forgetting =
    (key: string, release: Release): Release =>
    () => {
      release();
      if (semaphores.get(key)?.isIdle) semaphores.delete(key);
    };

  return {
    take: async (key) => forgetting(key, await of(key).take()),
    async takeWithin(key, patience) {
      const release = await of(key).takeWithin(patience);
      return release && forgetting(key, release);
    },
  };
}
