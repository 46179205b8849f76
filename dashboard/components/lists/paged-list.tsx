import type { ReactNode } from 'react';
import { Button } from '../frame/button.tsx';
import { ProblemNote } from '../frame/problem-note.tsx';
import { Skeleton } from '../frame/skeleton.tsx';
import { SteadyList } from './steady-list.tsx';

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

/**
 * A list that the service pages: its states, its rows, and a button for more. Its rows keep their places while it is
 * shown. Use `key` for another list.
 */
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
  if (query.isPending) return <Skeleton />;
  return (
    <>
      {query.isError ? <ProblemNote error={query.error} onRetry={() => void query.refetch()} /> : null}
      <SteadyList
        label={label}
        answer={query.data}
        rows={rowsOf(query)}
        pages={query.data?.pages.length ?? 0}
        hasMore={query.hasNextPage}
        empty={empty}
      >
        {children}
      </SteadyList>
      {query.hasNextPage ? (
        <Button className="mt-3" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show more
        </Button>
      ) : null}
    </>
  );
}
