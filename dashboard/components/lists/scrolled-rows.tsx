import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import { markRowsShown, ROWS_AROUND, useNearEnd } from './near-end.ts';
import { NewsButton, SteadyRow } from './steady-list.tsx';
import type { SteadyRows } from './steady-rows.ts';

interface ScrolledRowsProps<Row> {
  /** What the list is, for screen readers. */
  readonly label: string;
  readonly list: Pick<SteadyRows<Row>, 'rows' | 'gone' | 'restless' | 'asked'>;
  readonly keyOf: (row: Row) => string;
  /** Of every row, in pixels. */
  readonly rowHeight: number;
  readonly children: (row: Row) => ReactNode;
  /** All rows there are, when it is known: `rows` may be the first of them. */
  readonly total: number | undefined;
  /** Id of the row that is open: brought into sight when it becomes another one. */
  readonly open: string | undefined;
  /** What is new is not at the top: the list stays where it is when it is shown. Default: it is at the top. */
  readonly newAtEnd?: boolean | undefined;
  readonly idOf: (row: Row) => string;
  /** Called when the end of `rows` comes near. */
  readonly onNearEnd: () => void;
  readonly className?: string;
}

/** A list with its own scrolling that keeps only the rows near the visible ones in the document. */
export function ScrolledRows<Row>(props: ScrolledRowsProps<Row>) {
  const { label, list, keyOf, rowHeight, children, total, open, newAtEnd, idOf, onNearEnd, className = '' } = props;
  const { rows, gone, restless, asked } = list;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: ROWS_AROUND,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
  });
  const inDocument = virtual.getVirtualItems();
  useNearEnd(inDocument.at(-1)?.index, rows.length, onNearEnd);
  useEffect(markRowsShown, []);
  const openAt = rows.findIndex((row) => idOf(row) === open);
  const lookAt = useRef(virtual.scrollToIndex);
  lookAt.current = virtual.scrollToIndex;
  // Only when another one is opened: rows that come in must not move the list under the pointer.
  const seen = useRef<string>(undefined);
  useEffect(() => {
    if (openAt === -1 || seen.current === open) return;
    seen.current = open;
    lookAt.current(openAt, { align: 'auto' });
  }, [openAt, open]);
  // What is new is at the top.
  const shown = useRef(asked);
  useEffect(() => {
    if (shown.current === asked) return;
    shown.current = asked;
    if (newAtEnd !== true) lookAt.current(0);
  }, [asked, newAtEnd]);
  return (
    // Scrolls, so the keyboard must reach it: by its rows.
    <div
      ref={scroller}
      className={`overflow-y-auto overscroll-contain ${restless ? '[&_li]:pointer-events-none' : ''} ${className}`}
    >
      <ul aria-label={label} className="relative" style={{ height: virtual.getTotalSize() }}>
        {inDocument.map(({ key, index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <li
              key={key}
              aria-setsize={total ?? -1}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0 border-b border-line"
              style={{ height: rowHeight, transform: `translateY(${start}px)` }}
            >
              <SteadyRow gone={gone.has(keyOf(row))} className="h-full">
                {children(row)}
              </SteadyRow>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** The line above a list with its own scrolling: room for what is new, so that its rows do not move. */
export function ListHead({ list, words }: { readonly list: SteadyRows<unknown>; readonly words: string }) {
  return (
    <div className="flex h-10 shrink-0 items-center gap-2 border-b border-line px-3 text-xs text-muted max-sm:h-11">
      <span className="min-w-0 flex-1 truncate">{words}</span>
      <NewsButton list={list} />
    </div>
  );
}
