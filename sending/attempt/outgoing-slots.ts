/** Limits the memory for concurrent sending: small messages are not counted, large ones wait for one of a few slots. */
import { type Release, semaphore } from '#core/platform/batching/semaphore.ts';
import { MESSAGE_MEMORY_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { OUTBOUND_LARGE_AT_ONCE } from '#domain/sending/outbound.ts';

export interface OutgoingSlots {
  /** @returns frees the slot; undefined when none became free in time */
  take(size: number, withinMs: number): Promise<Release | undefined>;
}

export function outgoingSlots(atOnce: number = OUTBOUND_LARGE_AT_ONCE): OutgoingSlots {
  const slots = semaphore(atOnce);
  return {
    async take(size, withinMs) {
      return size <= MESSAGE_MEMORY_MAX_BYTES ? () => {} : slots.takeWithin({ withinMs });
    },
  };
}
