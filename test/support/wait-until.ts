import { setTimeout as delay } from 'node:timers/promises';

const LOOK_EVERY_MS = 15;

/**
 * Resolves with the first value of `look` that is neither undefined nor false.
 *
 * @throws after `withinMs`, naming what was waited for
 */
export async function waitUntil<Value>(
  what: string,
  look: () => Value | undefined | false | Promise<Value | undefined | false>,
  withinMs = 60_000,
): Promise<Value> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for: ${what}`);
    await delay(LOOK_EVERY_MS);
  }
}
