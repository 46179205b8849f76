import { useEffect, useState } from 'react';

/** Shorter waits show nothing: a flash is worse than a moment of nothing. */
const SHOWN_AFTER_MS = 300;
const WIDTHS = ['w-2/3', 'w-1/2', 'w-3/4', 'w-2/5', 'w-3/5'] as const;

/** Grey rows in place of content that is loading. */
export function Skeleton({ rows = 4 }: { readonly rows?: number }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return null;
  return (
    <div role="status" className="grid rounded-lg border border-line bg-panel">
      <span className="sr-only">Loading…</span>
      {Array.from({ length: rows }, (_, row) => (
        <div
          key={row}
          aria-hidden
          className="flex h-12 items-center border-t border-line px-4 first-of-type:border-t-0"
        >
          <span className={`h-3 animate-pulse rounded bg-line ${WIDTHS[row % WIDTHS.length]}`} />
        </div>
      ))}
    </div>
  );
}
