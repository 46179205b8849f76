import { semaphore } from '#core/platform/batching/semaphore.ts';

/**
 * How many messages above 256 KiB may be in memory at the same time: 4 of 30 MiB, several copies each, stay below 1
 * GiB.
 */
const SLOTS = 4;

export const largeMessageSlots = semaphore(SLOTS);
