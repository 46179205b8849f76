import { useInfiniteQuery } from '@tanstack/react-query';
import { Empty } from '../../components/frame/empty.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { rowsOf } from '../../components/lists/paged-list.tsx';
import { useSteadyRows } from '../../components/lists/steady-rows.ts';
import { BackToList, OpenRequest } from './decision/open-request.tsx';
import { usePinned } from './pinned.ts';
import { type Consent, decidedQuery } from './queries.ts';
import { Queue } from './queue.tsx';

interface DecidedProps {
  readonly status: 'approved' | 'denied';
  readonly open: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
}

/** What was decided, with who did and what was changed. */
export function Decided({ status, open, onOpen }: DecidedProps) {
  const list = useInfiniteQuery(decidedQuery(status));
  const rows = useSteadyRows<Consent>({
    of: status,
    answer: list.data,
    rows: rowsOf(list),
    pages: list.data?.pages.length ?? 0,
    hasMore: list.hasNextPage,
    keyOf: ({ id }) => id,
  });
  const shown = usePinned(open, rows.rows[0]?.id, onOpen);
  if (list.isError && list.data === undefined)
    return <ProblemNote error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isSuccess && rows.rows.length === 0 && open === undefined)
    return (
      <Empty title={status === 'approved' ? 'Nothing has been approved yet' : 'Nothing has been denied yet'}>
        <p>Each decision is kept here, with who made it and what was changed.</p>
      </Empty>
    );
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-[300px_minmax(0,1fr)]">
      <div className={`grid min-w-0 gap-2 ${open === undefined ? '' : 'max-lg:hidden'}`}>
        <Queue
          label="Decided requests"
          list={rows}
          words="Newest first"
          selected={shown}
          onOpen={onOpen}
          onNearEnd={() => {
            if (list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError) void list.fetchNextPage();
          }}
        />
      </div>
      <div className={`min-w-0 ${open === undefined ? 'max-lg:hidden' : ''}`}>
        {shown === undefined ? null : (
          <>
            <BackToList onBack={() => onOpen(undefined)} />
            <OpenRequest key={shown} id={shown} onDecided={() => onOpen(undefined)} />
          </>
        )}
      </div>
    </div>
  );
}
