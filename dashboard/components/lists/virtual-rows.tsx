import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { markRowsShown, ROWS_AROUND, useNearEnd } from './near-end.ts';
import { NewsButton, SteadyRow } from './steady-list.tsx';
import { type PagedQuery, rowsOf, useSteadyRows } from './steady-rows.ts';

interface VirtualRowsProps<Row> {
  /** What the list is, for screen readers. */
  readonly label: string;
  readonly query: PagedQuery<Row>;
  readonly keyOf: (row: Row) => string;
  /** Height of a row in pixels, before it is measured. */
  readonly rowHeight: number;
  readonly children: (row: Row, index: number) => ReactNode;
  /** All rows there are, when it is known: those that are loaded may be the first of them. */
  readonly total?: number;
  /** Shown where there is nothing. */
  readonly empty: ReactNode;
}

/**
 * A list that scrolls with the page and keeps only the rows near the window in the document. Rows keep their places
 * while it is shown. Use `key` for another list.
 */
export function VirtualRows<Row>({ label, query, keyOf, rowHeight, children, total, empty }: VirtualRowsProps<Row>) {
  const steady = useSteadyRows<Row>({
    answer: query.data,
    rows: rowsOf(query),
    pages: query.data?.pages.length ?? 0,
    hasMore: query.hasNextPage,
    keyOf,
  });
  const { rows, gone, restless } = steady;
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  // What is above the list may grow or shrink while it is shown.
  useLayoutEffect(() => {
    const measure = () => {
      if (list.current !== null) setTop(list.current.getBoundingClientRect().top + scrollY);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: ROWS_AROUND,
    scrollMargin: top,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
  });
  const shown = virtual.getVirtualItems();
  useNearEnd(shown.at(-1)?.index, rows.length, () => {
    if (query.hasNextPage && !query.isFetchingNextPage) query.fetchNextPage();
  });
  useEffect(markRowsShown, []);
  if (rows.length === 0) return query.data === undefined ? null : empty;
  return (
    <div className="relative">
      <NewsButton list={steady} className="absolute -top-3.5 left-1/2 z-10 -translate-x-1/2" />
      <ul
        ref={list}
        aria-label={label}
        className={`relative rounded-lg border border-line bg-panel ${restless ? 'pointer-events-none' : ''}`}
        style={{ height: virtual.getTotalSize() }}
      >
        {shown.map(({ key, index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              aria-setsize={total ?? -1}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0 border-line not-first:border-t"
              style={{ transform: `translateY(${start - top}px)` }}
            >
              <SteadyRow gone={gone.has(keyOf(row))}>{children(row, index)}</SteadyRow>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
