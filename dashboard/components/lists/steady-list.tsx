import { ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../frame/button.tsx';
import { Failure, Skeleton } from '../frame/page.tsx';
import type { LoadedRows } from './steady-order.ts';
import { type PagedQuery, rowsOf, type SteadyRows, useSteadyRows } from './steady-rows.ts';

interface RowsProps<Row> {
  /** What the list is, for screen readers. */
  readonly label: string;
  /** Shown where there is nothing. */
  readonly empty: ReactNode;
  /** Padding of a row. */
  readonly rowClass?: string;
  /** Content of one row; the list gives it border and padding. */
  readonly children: (row: Row) => ReactNode;
}

interface SteadyListProps<Row> extends RowsProps<Row>, Partial<LoadedRows<Row>> {
  /** The answer with the rows; undefined: it has not come. */
  readonly answer: unknown;
  readonly rows: readonly Row[];
}

/** A live list whose rows keep their places while it is shown. Use `key` for another list. */
export function SteadyList<Row extends { readonly id: string }>(props: SteadyListProps<Row>) {
  const { label, answer, rows, pages = 1, hasMore = false, empty, rowClass = 'px-4 py-2.5', children } = props;
  const list = useSteadyRows<Row>({ answer, rows, pages, hasMore, keyOf: ({ id }) => id });
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

interface PagedListProps<Row> extends RowsProps<Row> {
  readonly query: PagedQuery<Row>;
  /** Grey rows while the first page is loading. Default: true. */
  readonly skeleton?: boolean;
}

/**
 * A list that the service pages: its states, its rows, and a button for more. Its rows keep their places while it is
 * shown. Use `key` for another list.
 */
export function PagedList<Row extends { readonly id: string }>({
  query,
  skeleton = true,
  ...list
}: PagedListProps<Row>) {
  if (query.isPending) return skeleton ? <Skeleton /> : null;
  return (
    <>
      <Failure query={query} />
      <SteadyList
        {...list}
        answer={query.data}
        rows={rowsOf(query)}
        pages={query.data?.pages.length ?? 0}
        hasMore={query.hasNextPage}
      />
      {query.hasNextPage ? (
        <Button className="mt-3" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show more
        </Button>
      ) : null}
    </>
  );
}

interface SteadyRowProps {
  readonly gone: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A row of a steady list; one that has left the list keeps its place and cannot be used. */
export function SteadyRow({ gone, className = '', children }: SteadyRowProps) {
  return (
    <div inert={gone} className={`${gone ? 'line-through opacity-50' : ''} ${className}`}>
      {children}
    </div>
  );
}

/** What has changed in a list and is not shown yet; shows it when it is pressed. */
export function NewsButton({
  list,
  className = '',
}: {
  readonly list: SteadyRows<unknown>;
  readonly className?: string;
}) {
  const { news, gone, reordered, show } = list;
  const words = wordsOf(news, gone.size, reordered);
  return (
    <span role="status" className={className}>
      {words === '' ? null : (
        <button
          type="button"
          title="Update the list"
          onClick={show}
          className="inline-flex h-7 items-center gap-1 rounded-full border border-accent bg-accent-soft px-2.5 text-xs font-medium whitespace-nowrap text-text hover:bg-panel max-sm:h-9"
        >
          <ArrowUp size={14} aria-hidden /> {words}
          <span className="sr-only">: update the list</span>
        </button>
      )}
    </span>
  );
}

function wordsOf(news: number, gone: number, reordered: boolean): string {
  const words = [
    ...(news > 0 ? [`${news.toLocaleString()} new`] : []),
    ...(gone > 0 ? [`${gone.toLocaleString()} gone`] : []),
  ];
  return words.length === 0 && reordered ? 'New order' : words.join(', ');
}
