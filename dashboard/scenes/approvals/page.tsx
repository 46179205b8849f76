import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ListFilter, OctagonPause } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useMayManage } from '../../api/session.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Button } from '../../components/frame/button.tsx';
import { isTaken, useKeys } from '../../components/frame/keys.ts';
import { Empty, Failure, movesContent, PageHead, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { type MoreQuery, rowsOf, type SteadyRows, usePagedRows } from '../../components/lists/steady-rows.ts';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { Time } from '../../components/shown/time.tsx';
import {
  type Consent,
  filterOf,
  isFiltered,
  pendingQuery,
  type QueueFilter,
  sendingQuery,
  summaryQuery,
  useStopSending,
  useTakeBack,
} from './queries.ts';
import { Queue, usePinned } from './queue.tsx';
import { TakeBack } from './take-back.tsx';

// Most queues are short.
const Filters = lazy(async () => ({ default: (await import('./filters.tsx')).Filters }));
const Standing = lazy(async () => ({ default: (await import('./standing.tsx')).Standing }));
const Several = lazy(async () => ({ default: (await import('./several.tsx')).Several }));
const Decided = lazy(async () => ({ default: (await import('./decided.tsx')).Decided }));

/** What the address of the page says; of the filter texts, whose meaning is looked up. */
interface ApprovalsSearch extends Partial<Record<keyof QueueFilter, string>> {
  /** Id of the request that is shown whole. */
  readonly open?: string;
  /** Left out: what waits. */
  readonly show?: 'approved' | 'denied' | 'standing' | 'several';
}

interface ApprovalsPageProps extends ApprovalsSearch {
  readonly onSearch: (search: ApprovalsSearch) => void;
}

const VIEWS = [
  [undefined, 'Waiting'],
  ['approved', 'Approved'],
  ['denied', 'Denied'],
  ['standing', 'Standing'],
] as const;

/** The queue of held messages, and one of them; and what was decided. Keys: j, k move, a approves, d denies, e edits, r sends back, s shows several. */
export function ApprovalsPage({ open, show, onSearch, ...search }: ApprovalsPageProps) {
  const filter = filterOf(search);
  const { order } = filter;
  const list = useInfiniteQuery(pendingQuery(filter));
  const shown = usePagedRows(list, JSON.stringify(filter));
  const summary = useQuery(summaryQuery(filter)).data;
  const [filtering, setFiltering] = useState(isFiltered(filter) || order !== undefined);
  const toggleFilters = () => {
    setFiltering(!filtering);
    if (filtering) onSearch({});
  };
  const mailboxId = shown.rows.find(({ id }) => id === open)?.mailboxId ?? filter.from;
  useKeys((event) => {
    if (event.repeat || isTaken(event) || show !== undefined) return;
    if (event.key === 'f') toggleFilters();
    else if (event.key === 's' && mailboxId !== undefined) onSearch({ show: 'several', from: mailboxId });
    else return;
    event.preventDefault();
  });
  const count = summary === undefined ? rowsOf(list).length : summary.total;
  return (
    <>
      <PageHead
        title="Approvals"
        note={
          summary === undefined || summary.oldestAt === null ? undefined : (
            <>
              {count.toLocaleString()} waiting, the oldest arrived <Time value={summary.oldestAt} />
            </>
          )
        }
      >
        <StopAll />
      </PageHead>
      <StoppedNote />
      <nav aria-label="Requests by state" className="mb-4 flex flex-wrap gap-1">
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
        {show === undefined ? (
          <Button look="quiet" aria-expanded={filtering} className="ml-auto" onClick={toggleFilters}>
            <ListFilter size={16} aria-hidden /> {filtering ? 'Show all' : 'Filter'}
          </Button>
        ) : null}
      </nav>
      {show === undefined && filtering ? (
        <Suspense fallback={<div className="mb-4 h-24" />}>
          <Filters filter={filter} onFilter={onSearch} onSeveral={(from) => onSearch({ show: 'several', from })} />
        </Suspense>
      ) : null}
      <Failure query={list} />
      {show === undefined ? (
        <Waiting
          query={list}
          list={shown}
          words={count === 1 ? 'One waits' : `${count.toLocaleString()} wait`}
          total={summary?.total}
          filtered={isFiltered(filter)}
          open={open}
          onOpen={(id) => onSearch(id === undefined ? filter : { ...filter, open: id })}
        />
      ) : show === 'several' ? (
        <Suspense fallback={<Skeleton />}>
          <Several mailboxId={filter.from ?? ''} onClose={() => onSearch({})} />
        </Suspense>
      ) : show === 'standing' ? (
        <Suspense fallback={<Skeleton />}>
          <Standing />
        </Suspense>
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
  readonly query: MoreQuery & { readonly isSuccess: boolean };
  readonly list: SteadyRows<Consent>;
  /** How many wait. */
  readonly words: string;
  readonly total: number | undefined;
  /** Only a part of the queue is shown. */
  readonly filtered: boolean;
  readonly open: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
}

function Waiting({ query, list, words, total, filtered, open, onOpen }: WaitingProps) {
  const [last, setLast] = useState<Consent>();
  const [decidedHere, setDecidedHere] = useState<ReadonlySet<string>>(new Set());
  /** Those that can still be decided, and the one that is shown. */
  const waiting = list.rows.filter(({ id }) => id === open || !(list.gone.has(id) || decidedHere.has(id)));
  usePinned(open, waiting[0]?.id, onOpen);
  const at = waiting.findIndex(({ id }) => id === open);
  useKeys((event) => {
    const step = { j: 1, k: -1 }[event.key];
    if (step === undefined || isTaken(event)) return;
    const next = waiting[Math.min(waiting.length - 1, Math.max(0, at + step))];
    if (next !== undefined) onOpen(next.id);
  });
  const takeBack = useTakeBack((consent) => {
    setLast(undefined);
    setDecidedHere(new Set([...decidedHere].filter((id) => id !== consent.id)));
    onOpen(consent.id);
  });
  const decided = (consent: Consent) => {
    takeBack.reset();
    setLast(consent);
    setDecidedHere(new Set([...decidedHere, consent.id]));
    const next = waiting[at + 1] ?? waiting[at - 1];
    onOpen(next?.id);
  };
  return (
    <>
      <div
        ref={movesContent}
        role="status"
        className={
          last === undefined
            ? 'sr-only'
            : 'mb-3 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md bg-sunken px-3 py-2 wrap-anywhere'
        }
      >
        {last === undefined ? null : (
          <>
            <span className="min-w-0">
              {decidedWords(last)}: <bdi>{visibleText(last.subject) || '(no subject)'}</bdi>
            </span>
            <TakeBack consent={last} change={takeBack} onTakeBack={() => takeBack.mutate(last.id)} />
          </>
        )}
      </div>
      {query.isSuccess && open === undefined && list.rows.length === list.gone.size ? (
        <Empty title={filtered ? 'Nothing of this is waiting' : 'Nothing is waiting for you'}>
          <p>
            When an agent writes to somebody for the first time, its message is held here until a person approves or
            denies it.
          </p>
        </Empty>
      ) : null}
      {open === undefined && list.rows.length === 0 ? null : (
        <Queue
          label="Held messages"
          list={list}
          words={words}
          total={total}
          newAtEnd
          open={open}
          onOpen={onOpen}
          query={query}
          onDecided={decided}
        />
      )}
    </>
  );
}

function decidedWords({ status, decision }: Consent): string {
  if (status === 'pending') return 'Approved by you, a second person must approve too';
  return status === 'approved' ? 'Approved' : decision?.returned === true ? 'Sent back' : 'Denied';
}

/** The brake of the whole organization: a button while mail leaves. Owners and admins only. */
function StopAll() {
  const mayManage = useMayManage();
  const sending = useQuery(sendingQuery);
  const [asking, setAsking] = useState(false);
  const stop = useStopSending();
  if (!mayManage || sending.data === undefined || sending.data.stopped) return null;
  return (
    <>
      <Button onClick={() => setAsking(true)}>
        <OctagonPause size={16} aria-hidden /> Stop all sending
      </Button>
      {asking ? (
        <Confirm
          title="Stop all sending?"
          consequence="No mailbox sends anything until somebody resumes sending, not even approved or queued mail. Agents get an explanation. Mail is still received, and nothing is lost."
          action="Stop all sending"
          cancel={false}
          change={stop}
          onConfirm={() => stop.mutate(true, { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </>
  );
}

/** Says that nothing leaves, and ends that. */
function StoppedNote() {
  const mayManage = useMayManage();
  const sending = useQuery(sendingQuery);
  const go = useStopSending();
  if (sending.data?.stopped !== true) return null;
  const { messagesStopped } = sending.data;
  return (
    <section
      ref={movesContent}
      aria-label="Sending is stopped"
      className="mb-4 flex flex-wrap items-center gap-3 rounded-lg border border-stop/40 bg-stop-soft px-4 py-3"
    >
      <OctagonPause size={20} aria-hidden className="text-stop" />
      <div className="min-w-0 flex-1 basis-64">
        <p className="font-medium text-stop">All sending is stopped</p>
        <p>
          Nothing leaves any mailbox.{' '}
          {messagesStopped === 0
            ? 'No message is waiting for the end of the stop.'
            : `${messagesStopped.toLocaleString()} ${messagesStopped === 1 ? 'message waits' : 'messages wait'} for its end.`}
        </p>
        <ProblemNote error={go.error} />
      </div>
      {mayManage ? (
        <Button busy={go.isPending} onClick={() => go.mutate(false)}>
          Let sending go on
        </Button>
      ) : (
        <p className="text-muted">An owner or admin can resume it.</p>
      )}
    </section>
  );
}
