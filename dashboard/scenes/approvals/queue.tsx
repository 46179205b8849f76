import { useQuery } from '@tanstack/react-query';
import { ListHead } from '../../components/lists/list-head.tsx';
import { ScrolledRows } from '../../components/lists/scrolled-rows.tsx';
import type { SteadyRows } from '../../components/lists/steady-rows.ts';
import { heldBecauseWords } from '../../components/mail/held-because.ts';
import { visibleText } from '../../components/mail/visible-text.ts';
import { Time } from '../../components/shown/time.tsx';
import { type Consent, mailboxNameQuery } from './queries.ts';
import { OutcomeBadge } from './request/outcome.tsx';

export interface QueueProps {
  readonly label: string;
  readonly list: SteadyRows<Consent>;
  /** How many there are. */
  readonly words: string;
  readonly selected: string | undefined;
  readonly onOpen: (id: string) => void;
  /** Called when the reader is near the end of the loaded rows. */
  readonly onNearEnd: () => void;
  readonly className?: string;
}

const ROW_PX = 97;

/** Requests as rows that open them. */
export function Queue({ label, list, words, selected, onOpen, onNearEnd, className = '' }: QueueProps) {
  return (
    <div
      className={`flex max-h-[calc(100dvh-220px)] min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-panel lg:sticky lg:top-4 lg:max-h-[calc(100dvh-32px)] ${className}`}
    >
      <ListHead list={list} words={words} />
      <ScrolledRows
        label={label}
        list={list}
        keyOf={({ id }) => id}
        idOf={({ id }) => id}
        rowHeight={ROW_PX}
        total={undefined}
        open={selected}
        onNearEnd={onNearEnd}
        className="min-h-0 flex-1"
      >
        {(consent) => <Row consent={consent} selected={consent.id === selected} onOpen={onOpen} />}
      </ScrolledRows>
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
