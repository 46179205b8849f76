import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ROWS_AROUND, useNearEnd } from './near-end.ts';
import { markRowsShown } from './rows-shown.ts';

export interface VirtualRowsProps<Row> {
  /** What the list is, for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Height of a row in pixels, before it is measured. */
  readonly rowHeight: number;
  readonly children: (row: Row, index: number) => ReactNode;
  /** All rows there are, when it is known: `rows` may be the first of them. */
  readonly total?: number;
  /** Called when the end of `rows` comes near. */
  readonly onNearEnd?: () => void;
}

/** A list that scrolls with the page and keeps only the rows near the window in the document. */
export function VirtualRows<Row>({ label, rows, keyOf, rowHeight, children, total, onNearEnd }: VirtualRowsProps<Row>) {
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
  useNearEnd(shown.at(-1)?.index, rows.length, onNearEnd);
  useEffect(markRowsShown, []);
  return (
    <ul
      ref={list}
      aria-label={label}
      className="relative rounded-lg border border-line bg-panel"
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
            {children(row, index)}
          </li>
        );
      })}
    </ul>
  );
}
