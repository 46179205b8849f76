/** How many messages above 256 KiB may be whole in memory at once: 4 of 25 MiB, several copies each, stay below 1 GiB. */
const SLOTS = 4;

let taken = 0;
const waiting: (() => void)[] = [];

export const largeMessageSlots = {
  /** Waits for a slot; the function it gives frees it. */
  async take(): Promise<() => void> {
    if (taken >= SLOTS) await new Promise<void>((resolve) => waiting.push(resolve));
    else taken++;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = waiting.shift(); // a waiter takes the slot over
      if (next === undefined) taken--;
      else next();
    };
  },
};
