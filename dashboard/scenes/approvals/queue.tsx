import { useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { mailboxNameQuery } from '../../api/queries.ts';
import { Button } from '../../components/frame/button.tsx';
import { Failure } from '../../components/frame/page.tsx';
import { ListHead, ScrolledRows } from '../../components/lists/scrolled-rows.tsx';
import { fetchMore, type MoreQuery, type SteadyRows } from '../../components/lists/steady-rows.ts';
import { heldBecauseWords } from '../../components/mail/held-because.ts';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { Time } from '../../components/shown/time.tsx';
import { finishRequest } from './decision/draft.ts';
import { type Consent, loadAttachment, loadRaw, requestQuery, useApprove, useDeny, useSendBack } from './queries.ts';
import { OutcomeBadge } from './request/outcome.tsx';

// The list is shown first.
const HeldRequest = lazy(async () => ({ default: (await import('./decision/held-request.tsx')).HeldRequest }));

const Loading = () => <div aria-busy className="h-80 rounded-lg border border-line bg-panel" />;

interface QueueProps {
  readonly label: string;
  readonly list: SteadyRows<Consent>;
  /** How many there are. */
  readonly words: string;
  /** All there are, when it is known. */
  readonly total?: number | undefined;
  /** What is new is not at the top of the list. Default: it is. */
  readonly newAtEnd?: boolean;
  /** Id in the address; undefined: the list is shown where there is no room for both. */
  readonly open: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
  readonly query: MoreQuery;
  readonly onDecided: (consent: Consent) => void;
}

const ROW_PX = 97;

/** Requests as rows that open them, and beside them the open one. */
export function Queue({ label, list, words, total, newAtEnd, open, onOpen, query, onDecided }: QueueProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-[300px_minmax(0,1fr)]">
      <div
        className={`flex max-h-[calc(100dvh-220px)] min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-panel lg:sticky lg:top-4 lg:max-h-[calc(100dvh-32px)] ${open === undefined ? '' : 'max-lg:hidden'}`}
      >
        <ListHead list={list} words={words} />
        <ScrolledRows
          label={label}
          list={list}
          keyOf={({ id }) => id}
          idOf={({ id }) => id}
          rowHeight={ROW_PX}
          total={total}
          newAtEnd={newAtEnd}
          open={open}
          onNearEnd={() => fetchMore(query)}
          className="min-h-0 flex-1"
        >
          {(consent) => <Row consent={consent} selected={consent.id === open} onOpen={onOpen} />}
        </ScrolledRows>
      </div>
      {open === undefined ? (
        <div className="min-w-0 max-lg:hidden" />
      ) : (
        <div className="min-w-0">
          <Button look="quiet" className="mb-2 -ml-2 lg:hidden" onClick={() => onOpen(undefined)}>
            <ArrowLeft size={16} aria-hidden /> All requests
          </Button>
          <OpenRequest key={open} id={open} onDecided={onDecided} />
        </div>
      )}
    </div>
  );
}

interface RowProps {
  readonly consent: Consent;
  readonly selected: boolean;
  readonly onOpen: (id: string) => void;
}

function Row({ consent, selected, onOpen }: RowProps) {
  const mailbox = useQuery(mailboxNameQuery(consent.mailboxId));
  const { recipients, subject, status, createdAt, expiresAt, decision, heldBecause } = consent;
  const [first = 'nobody', ...others] = recipients;
  return (
    <button
      type="button"
      aria-current={selected || undefined}
      onClick={() => onOpen(consent.id)}
      className="grid h-full w-full content-center gap-0.5 px-4 text-left -outline-offset-2 hover:bg-sunken aria-[current]:bg-accent-soft aria-[current]:shadow-[inset_2px_0_0_var(--accent)]"
    >
      <span className="flex min-w-0 items-baseline gap-2">
        <span className="flex min-w-0 flex-1 gap-1 font-medium">
          <span className="truncate">{visibleText(first)}</span>
          {others.length > 0 ? <span className="shrink-0">+{others.length}</span> : null}
        </span>
        <span className="shrink-0 text-xs text-muted">
          <Time value={decision?.decidedAt ?? createdAt} />
        </span>
      </span>
      <span className="truncate">{visibleText(subject) || '(no subject)'}</span>
      <span className="truncate text-xs text-muted">{mailbox.data?.address ?? ''}</span>
      <span className="flex min-w-0 items-center gap-2 text-xs text-muted">
        <span className="min-w-0 flex-1 truncate">{heldBecauseWords(heldBecause)}</span>
        {status === 'pending' ? (
          <span className="shrink-0">
            expires <Time value={expiresAt} />
          </span>
        ) : (
          <OutcomeBadge consent={consent} />
        )}
      </span>
    </button>
  );
}

/** From this width on the list and a request are side by side. */
const WIDE = matchMedia('(min-width: 1024px)');

function useIsWide(): boolean {
  const [isWide, setIsWide] = useState(WIDE.matches);
  useEffect(() => {
    const onChange = () => setIsWide(WIDE.matches);
    onChange();
    WIDE.addEventListener('change', onChange);
    return () => WIDE.removeEventListener('change', onChange);
  }, []);
  return isWide;
}

/**
 * Where there is room beside the list, the first request is shown when none was chosen, and is written into the address
 * at once: what comes into the list later does not replace it.
 *
 * @param open that of the address
 */
export function usePinned(open: string | undefined, first: string | undefined, onOpen: (id: string) => void): void {
  const isWide = useIsWide();
  useEffect(() => {
    if (open === undefined && isWide && first !== undefined) onOpen(first);
  });
}

/** One request, whatever its state is. */
function OpenRequest({ id, onDecided }: { readonly id: string; readonly onDecided: (consent: Consent) => void }) {
  const message = useQuery(requestQuery(id));
  const decided = (consent: Consent) => {
    finishRequest(id);
    onDecided(consent);
  };
  const approve = useApprove(id, decided);
  const deny = useDeny(id, decided);
  const sendBack = useSendBack(id, decided);
  const [wasPending, setWasPending] = useState(false);
  if (!wasPending && message.data?.consent.status === 'pending') setWasPending(true);
  if (message.data === undefined) return message.isError ? <Failure query={message} /> : <Loading />;
  return (
    <Suspense fallback={<Loading />}>
      <HeldRequest
        key={message.data.sha256}
        message={message.data}
        loadAttachment={(aid) => loadAttachment(id, aid)}
        loadRaw={() => loadRaw(id)}
        links
        wasPending={wasPending}
        approve={approve}
        deny={deny}
        sendBack={sendBack}
        keys
      />
    </Suspense>
  );
}
