const MINUTE_MS = 60_000;

/** A moment as a field of the type `datetime-local` wants it: the reader's zone, to the minute. */
export function localInput(moment: string): string {
  const time = new Date(moment);
  return new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}
