/** Keeps what is sent at once out of memory: small messages count for nothing, large ones wait for one of a few slots. */
import { MESSAGE_MEMORY_MAX_BYTES } from '../../domain/mail-limits.ts';
import { OUTBOUND_LARGE_AT_ONCE } from '../../domain/outbound.ts';

export interface OutgoingSlots {
  /** @returns frees the slot; undefined when none became free in time */
  take(size: number, withinMs: number): Promise<(() => void) | undefined>;
}

export function outgoingSlots(atOnce: number = OUTBOUND_LARGE_AT_ONCE): OutgoingSlots {
  let taken = 0;
  const waiting = new Set<() => void>();

  function free(): void {
    const [next] = waiting; // a waiter takes the slot over
    if (next === undefined) taken--;
    else {
      waiting.delete(next);
      next();
    }
  }

  return {
    async take(size, withinMs) {
      if (size <= MESSAGE_MEMORY_MAX_BYTES) return () => {};
      if (taken < atOnce) taken++;
      else {
        const granted = await new Promise<boolean>((resolve) => {
          const take = () => {
            clearTimeout(timer);
            resolve(true);
          };
          const timer = setTimeout(() => {
            waiting.delete(take);
            resolve(false);
          }, withinMs);
          waiting.add(take);
        });
        if (!granted) return undefined;
      }
      let held = true;
      return () => {
        if (held) free();
        held = false;
      };
    },
  };
}
