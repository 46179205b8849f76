import { useInfiniteQuery } from '@tanstack/react-query';
import { Empty } from '../../components/empty.tsx';
import { rowsOf } from '../../components/paged-list.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { BackToList, OpenRequest } from './open-request.tsx';
import { decidedQuery } from './queries.ts';
import { Queue } from './queue.tsx';

interface DecidedProps {
  readonly status: 'approved' | 'denied';
  readonly open: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
}

/** What was decided, with who did and what was changed. */
export function Decided({ status, open, onOpen }: DecidedProps) {
  const list = useInfiniteQuery(decidedQuery(status));
  const consents = rowsOf(list);
  const shown = open ?? consents[0]?.id;
  if (list.isError && list.data === undefined)
    return <ProblemNote error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isSuccess && consents.length === 0)
    return (
      <Empty title={status === 'approved' ? 'Nothing has been approved yet' : 'Nothing has been denied yet'}>
        <p>Each decision is kept here, with who made it and what was changed.</p>
      </Empty>
    );
  if (shown === undefined) return null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-[300px_minmax(0,1fr)]">
      <div className={`grid min-w-0 gap-2 ${open === undefined ? '' : 'max-lg:hidden'}`}>
        <Queue
          label="Decided requests"
          consents={consents}
          selected={shown}
          onOpen={onOpen}
          onNearEnd={() => {
            if (list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError) void list.fetchNextPage();
          }}
        />
      </div>
      <div className={`min-w-0 ${open === undefined ? 'max-lg:hidden' : ''}`}>
        <BackToList onBack={() => onOpen(undefined)} />
        <OpenRequest key={shown} id={shown} onDecided={() => onOpen(undefined)} />
      </div>
    </div>
  );
}
