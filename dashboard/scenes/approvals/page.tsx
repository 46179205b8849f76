import { useInfiniteQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from '../../components/frame/button.tsx';
import { Empty } from '../../components/frame/empty.tsx';
import { PageHead } from '../../components/frame/page-head.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { movesContent } from '../../components/frame/shift-guard.ts';
import { Skeleton } from '../../components/frame/skeleton.tsx';
import { rowsOf } from '../../components/lists/paged-list.tsx';
import { type SteadyRows, useSteadyRows } from '../../components/lists/steady-rows.ts';
import { visibleText } from '../../components/mail/visible-text.ts';
import { Time } from '../../components/shown/time.tsx';
import { BackToList, OpenRequest } from './decision/open-request.tsx';
import { isTyping } from './decision/typing.ts';
import { usePinned } from './pinned.ts';
import { type Consent, pendingQuery } from './queries.ts';
import { Queue } from './queue.tsx';
import { StopAll, StoppedNote } from './stop/stop-all.tsx';

const Decided = lazy(async () => ({ default: (await import('./decided.tsx')).Decided }));

/** What the address of the page says. */
export interface ApprovalsSearch {
  /** Id of the request that is shown whole. */
  readonly open?: string;
  /** Left out: what waits. */
  readonly show?: 'approved' | 'denied';
}

export interface ApprovalsPageProps extends ApprovalsSearch {
  readonly onSearch: (search: ApprovalsSearch) => void;
}

const VIEWS = [
  [undefined, 'Waiting'],
  ['approved', 'Approved'],
  ['denied', 'Denied'],
] as const;

/** Shown of a queue that is not loaded whole. */
const COUNTED_MAX = '99+';

/** The queue of held messages, and one of them; and what was decided. Keys: j, k move, a approves, d denies, e edits. */
export function ApprovalsPage({ open, show, onSearch }: ApprovalsPageProps) {
  const list = useInfiniteQuery(pendingQuery);
  const waiting = rowsOf(list);
  const shown = useSteadyRows<Consent>({
    answer: list.data,
    rows: waiting,
    pages: list.data?.pages.length ?? 0,
    hasMore: list.hasNextPage,
    keyOf: ({ id }) => id,
  });
  const oldest = list.hasNextPage ? undefined : waiting.at(-1);
  const count = list.hasNextPage ? COUNTED_MAX : String(waiting.length);
  return (
    <>
      <PageHead
        title="Approvals"
        note={
          waiting.length === 0 ? undefined : oldest === undefined ? (
            `${count} waiting`
          ) : (
            <>
              {count} waiting, the oldest arrived <Time value={oldest.createdAt} />
            </>
          )
        }
      >
        <StopAll />
      </PageHead>
      <StoppedNote />
      <nav aria-label="Requests by state" className="mb-4 flex gap-1">
        {VIEWS.map(([view, title]) => (
          <Button
            key={title}
            look="quiet"
            aria-current={view === show ? 'page' : undefined}
            className="aria-[current]:bg-sunken aria-[current]:text-text"
            onClick={() => onSearch(view === undefined ? {} : { show: view })}
          >
            {title}
          </Button>
        ))}
      </nav>
      {list.isError ? <ProblemNote error={list.error} onRetry={() => void list.refetch()} /> : null}
      {show === undefined ? (
        <Waiting
          list={shown}
          words={count === '1' ? 'One waits' : `${count} wait`}
          loaded={list.isSuccess}
          onNearEnd={() => {
            if (list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError) void list.fetchNextPage();
          }}
          open={open}
          onOpen={(id) => onSearch(id === undefined ? {} : { open: id })}
        />
      ) : (
        <Suspense fallback={<Skeleton />}>
          <Decided
            status={show}
            open={open}
            onOpen={(id) => onSearch(id === undefined ? { show } : { show, open: id })}
          />
        </Suspense>
      )}
    </>
  );
}

interface WaitingProps {
  readonly list: SteadyRows<Consent>;
  /** How many wait. */
  readonly words: string;
  readonly loaded: boolean;
  readonly onNearEnd: () => void;
  readonly open: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
}

function Waiting({ list, words, loaded, onNearEnd, open, onOpen }: WaitingProps) {
  const [last, setLast] = useState<Consent>();
  const [decidedHere, setDecidedHere] = useState<ReadonlySet<string>>(new Set());
  /** Those that can still be decided, and the one that is shown. */
  const waiting = list.rows.filter(({ id }) => id === open || !(list.gone.has(id) || decidedHere.has(id)));
  const shown = usePinned(open, waiting[0]?.id, onOpen);
  const at = waiting.findIndex(({ id }) => id === shown);
  useMoveKeys((step) => {
    const next = waiting[Math.min(waiting.length - 1, Math.max(0, at + step))];
    if (next !== undefined) onOpen(next.id);
  });
  const decided = (consent: Consent) => {
    setLast(consent);
    setDecidedHere(new Set([...decidedHere, consent.id]));
    const next = waiting[at + 1] ?? waiting[at - 1];
    onOpen(next?.id);
  };
  return (
    <>
      <p
        ref={movesContent}
        role="status"
        className={last === undefined ? 'sr-only' : 'mb-3 rounded-md bg-sunken px-3 py-2 wrap-anywhere'}
      >
        {last === undefined ? null : (
          <>
            {last.status === 'approved' ? 'Approved' : 'Denied'}:{' '}
            <bdi>{visibleText(last.subject) || '(no subject)'}</bdi>
          </>
        )}
      </p>
      {loaded && shown === undefined && list.rows.length === list.gone.size ? (
        <Empty title="Nothing is waiting for you">
          <p>
            When an agent writes to somebody for the first time, its message is held here until a person approves or
            denies it.
          </p>
        </Empty>
      ) : null}
      {shown === undefined && list.rows.length === 0 ? null : (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-[300px_minmax(0,1fr)]">
          <Queue
            label="Held messages"
            list={list}
            words={words}
            selected={shown}
            onOpen={onOpen}
            onNearEnd={onNearEnd}
            className={open === undefined ? '' : 'max-lg:hidden'}
          />
          <div className={`min-w-0 ${open === undefined ? 'max-lg:hidden' : ''}`}>
            {shown === undefined ? null : (
              <>
                <BackToList onBack={() => onOpen(undefined)} />
                <OpenRequest key={shown} id={shown} onDecided={decided} />
              </>
            )}
          </div>
        </div>
      )}
    </>
  );
}

/** Calls with 1 for j and -1 for k, unless a field has the focus. */
function useMoveKeys(move: (step: 1 | -1) => void): void {
  const latest = useRef(move);
  latest.current = move;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      if (event.key === 'j') latest.current(1);
      else if (event.key === 'k') latest.current(-1);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
