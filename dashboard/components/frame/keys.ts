/** Keys of a page that work without a field: who listens, and when a key is for somebody else. */
import { useEffect, useRef } from 'react';

/** Whether a key belongs to a field, a dialog or the browser. */
export function isTaken(event: KeyboardEvent): boolean {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  return (
    target instanceof HTMLElement &&
    target.closest('input:not([type=checkbox]), textarea, select, [contenteditable], [role="dialog"]') !== null
  );
}

/** Calls for each key that is pressed on the page. @param active false: for none */
export function useKeys(onKey: (event: KeyboardEvent) => void, active = true): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    if (!active) return undefined;
    const listen = (event: KeyboardEvent) => latest.current(event);
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [active]);
}
