import { useInfiniteQuery } from '@tanstack/react-query';
import { Empty, Failure } from '../../components/frame/page.tsx';
import { usePagedRows } from '../../components/lists/steady-rows.ts';
import { type Consent, decidedQuery } from './queries.ts';
import { Queue, usePinned } from './queue.tsx';

interface DecidedProps {
  readonly status: 'approved' | 'denied';
  readonly open: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
}

/** What was decided, with who did and what was changed. */
export function Decided({ status, open, onOpen }: DecidedProps) {
  const list = useInfiniteQuery(decidedQuery(status));
  const rows = usePagedRows<Consent>(list, status);
  usePinned(open, rows.rows[0]?.id, onOpen);
  if (list.isError && list.data === undefined) return <Failure query={list} />;
  if (list.isSuccess && rows.rows.length === 0 && open === undefined)
    return (
      <Empty title={status === 'approved' ? 'Nothing has been approved yet' : 'Nothing has been denied yet'}>
        <p>Each decision is kept here, with who made it and what was changed.</p>
      </Empty>
    );
  return (
    <Queue
      label="Decided requests"
      list={rows}
      words="Newest first"
      open={open}
      onOpen={onOpen}
      query={list}
      onDecided={() => onOpen(undefined)}
    />
  );
}
