import type { ReactNode } from 'react';
import { NewsButton } from './news-button.tsx';
import { SteadyRow } from './steady-row.tsx';
import { useSteadyRows } from './steady-rows.ts';

export interface SteadyListProps<Row> {
  /** What the list is, for screen readers. */
  readonly label: string;
  /** The answer with the rows; undefined: it has not come. */
  readonly answer: unknown;
  readonly rows: readonly Row[];
  /** Loaded pages; left out: the list has one. */
  readonly pages?: number;
  readonly hasMore?: boolean;
  /** Shown where there is nothing. */
  readonly empty: ReactNode;
  /** Padding of a row. */
  readonly rowClass?: string;
  /** Content of one row. */
  readonly children: (row: Row) => ReactNode;
}

/** A live list whose rows keep their places while it is shown. Use `key` for another list. */
export function SteadyList<Row extends { readonly id: string }>({
  label,
  answer,
  rows: loaded,
  pages = 1,
  hasMore = false,
  empty,
  rowClass = 'px-4 py-2.5',
  children,
}: SteadyListProps<Row>) {
  const list = useSteadyRows<Row>({ answer, rows: loaded, pages, hasMore, keyOf: ({ id }) => id });
  if (list.rows.length === 0) return answer === undefined ? null : empty;
  return (
    <div className="relative">
      <NewsButton list={list} className="absolute -top-3.5 left-1/2 z-10 -translate-x-1/2" />
      <ul
        aria-label={label}
        className={`rounded-lg border border-line bg-panel ${list.restless ? 'pointer-events-none' : ''}`}
      >
        {list.rows.map((row) => (
          <li key={row.id} className={`border-t border-line first:border-t-0 ${rowClass}`}>
            <SteadyRow gone={list.gone.has(row.id)}>{children(row)}</SteadyRow>
          </li>
        ))}
      </ul>
    </div>
  );
}
