import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { ProblemNote } from './problem-note.tsx';
import { Skeleton } from './skeleton.tsx';

/** The part of an infinite query that a list needs. */
export interface PagedQuery<Row> {
  readonly data: { readonly pages: readonly { readonly data: readonly Row[] }[] } | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  readonly isError: boolean;
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  refetch(): unknown;
  fetchNextPage(): unknown;
}

export const rowsOf = <Row,>(query: Pick<PagedQuery<Row>, 'data'>): readonly Row[] =>
  query.data?.pages.flatMap(({ data }) => data) ?? [];

/** A list that the service pages: its states, its rows, and a button for more. */
export function PagedList<Row extends { readonly id: string }>({
  label,
  query,
  empty,
  children,
}: {
  readonly label: string;
  readonly query: PagedQuery<Row>;
  /** Shown where there is nothing. */
  readonly empty: ReactNode;
  /** Content of one row; the list gives it border and padding. */
  readonly children: (row: Row) => ReactNode;
}) {
  const rows = rowsOf(query);
  if (query.isPending) return <Skeleton />;
  return (
    <>
      {query.isError ? <ProblemNote error={query.error} onRetry={() => void query.refetch()} /> : null}
      {!query.isError && rows.length === 0 ? empty : null}
      {rows.length > 0 ? (
        <ul aria-label={label} className="rounded-lg border border-line bg-panel">
          {rows.map((row) => (
            <li key={row.id} className="border-t border-line px-4 py-2.5 first:border-t-0">
              {children(row)}
            </li>
          ))}
        </ul>
      ) : null}
      {query.hasNextPage ? (
        <Button className="mt-3" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show more
        </Button>
      ) : null}
    </>
  );
}
