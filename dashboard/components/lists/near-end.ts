import { useEffect, useRef } from 'react';

/** Rows beyond the visible ones that are in the document. */
export const ROWS_AROUND = 8;
/** The next page is requested this many rows before the end, so that it has arrived when the reader gets there. */
const ROWS_AHEAD = 30;

/**
 * Asks for the next page of a list when the end of the loaded rows comes near.
 *
 * @param lastShown index of the last row in the document; undefined: none
 */
export function useNearEnd(lastShown: number | undefined, loaded: number, onNearEnd: (() => void) | undefined): void {
  const isNearEnd = (lastShown ?? -1) >= loaded - ROWS_AHEAD;
  const nearEnd = useRef(onNearEnd);
  nearEnd.current = onNearEnd;
  // Again for each page that has come: the end may still be near.
  useEffect(() => {
    if (isNearEnd && loaded > 0) nearEnd.current?.();
  }, [isNearEnd, loaded]);
}

/** Marks in the browser's timeline that a list has its first rows and takes clicks: read by `npm run bench:pages`. */
export function markRowsShown(): void {
  performance.mark('rows-shown');
}
