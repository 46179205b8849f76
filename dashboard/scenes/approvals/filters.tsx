import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { optionsOf } from '../../components/forms/form.tsx';
import { Segments } from '../../components/forms/segments.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Failure, movesContent } from '../../components/frame/page.tsx';
import { heldBecauseWords } from '../../components/mail/held-because.ts';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { AGES, filterOf, type QueueFilter, summaryQuery } from './queries.ts';

const DenyAll = lazy(async () => ({ default: (await import('./deny-all.tsx')).DenyAll }));

const CONTROL = 'h-8 max-w-full rounded-md border border-line-strong bg-panel px-3 max-sm:h-11 max-sm:text-base';

const GROUPS = [
  ['none', 'No groups'],
  ['from', 'By agent'],
  ['to', 'By recipient'],
] as const;

interface FiltersProps {
  readonly filter: QueueFilter;
  readonly onFilter: (filter: QueueFilter) => void;
  /** Shows messages of a mailbox together. */
  readonly onSeveral: (mailboxId: string) => void;
}

/** The filter without what is empty. */
function changed(filter: QueueFilter, change: { readonly [Name in keyof QueueFilter]?: string }): QueueFilter {
  const chosen = Object.entries({ ...filter, ...change }).filter(([, value]) => value !== undefined && value !== '');
  return filterOf(Object.fromEntries(chosen));
}

/** Chooses a part of the queue: by search, filters, and groups of one agent or one recipient. */
export function Filters({ filter, onFilter, onSeveral }: FiltersProps) {
  const [group, setGroup] = useState<(typeof GROUPS)[number][0]>('none');
  // What can be chosen is counted without any filter, so that the controls do not change while they are used.
  const all = useQuery(summaryQuery({}));
  const set = (change: { readonly [Name in keyof QueueFilter]?: string }) => onFilter(changed(filter, change));
  const { byMailbox = [], byRecipient = [], byReason = [] } = all.data ?? {};
  const [denying, setDenying] = useState(false);
  const chosen = byMailbox.find(({ mailboxId }) => mailboxId === filter.from);
  const agents = byMailbox.map(({ mailboxId, address, count }) => [mailboxId, counted(address, count)] as const);
  const recipients = byRecipient.map(({ recipient, count }) => [recipient, counted(recipient, count)] as const);
  return (
    <section ref={movesContent} aria-label="Filter" className="mb-4 grid gap-2">
      <div className="flex flex-wrap gap-2">
        <input
          type="search"
          aria-label="Search recipients and subjects"
          placeholder="Recipient, subject, first words"
          autoFocus
          maxLength={200}
          value={filter.q ?? ''}
          onChange={({ target }) => set({ q: target.value })}
          className={`${CONTROL} w-72 placeholder:text-faint max-sm:w-full`}
        />
        <Select label="From" all="Every agent" value={filter.from} onChange={(from) => set({ from })}>
          {optionsOf(withChosen(agents, filter.from))}
        </Select>
        <Select label="To" all="Every recipient" value={filter.to} onChange={(to) => set({ to })}>
          {optionsOf(withChosen(recipients, filter.to))}
        </Select>
        <Select label="Reason" all="Every reason" value={filter.reason} onChange={(reason) => set({ reason })}>
          {byReason.map(({ heldBecause, count }) => (
            <option key={heldBecause} value={heldBecause}>
              {counted(heldBecauseWords(heldBecause), count)}
            </option>
          ))}
        </Select>
        <Select label="Age" all="Every age" value={filter.age} onChange={(age) => set({ age })}>
          {optionsOf(AGES)}
        </Select>
        <Select label="Order" all="Oldest first" value={filter.order} onChange={(order) => set({ order })}>
          <option value="newest">Newest first</option>
          <option value="risk">Highest risk first</option>
        </Select>
        <Segments label="Groups" value={group} options={GROUPS} onChange={setGroup} />
        {chosen === undefined ? null : (
          <>
            <Button onClick={() => onSeveral(chosen.mailboxId)}>Read several together</Button>
            <Button look="stop" onClick={() => setDenying(true)}>
              Deny all of this mailbox
            </Button>
          </>
        )}
      </div>
      {denying && chosen !== undefined ? (
        <Suspense>
          <DenyAll {...chosen} onClose={() => setDenying(false)} />
        </Suspense>
      ) : null}
      <Failure query={all} />
      {group === 'none' ? null : (
        <ul
          aria-label={group === 'from' ? 'Waiting by agent' : 'Waiting by recipient'}
          className="flex max-h-40 flex-wrap gap-2 overflow-y-auto"
        >
          {(group === 'from' ? agents : recipients).map(([value, title]) => (
            <li key={value} className="max-w-full">
              <button
                type="button"
                aria-pressed={filter[group] === value}
                onClick={() => set({ [group]: filter[group] === value ? '' : value })}
                className="max-w-full truncate rounded-md border border-line bg-panel px-3 py-1 hover:bg-sunken aria-pressed:border-accent aria-pressed:bg-accent-soft max-sm:min-h-11"
              >
                {title}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const counted = (what: string, count: number): string => `${visibleText(what)} (${count.toLocaleString()})`;

/** A filter of the address may be about somebody who has nothing waiting any more. */
const withChosen = (options: readonly (readonly [string, string])[], chosen: string | undefined) =>
  chosen === undefined || options.some(([value]) => value === chosen)
    ? options
    : [...options, [chosen, visibleText(chosen)] as const];

interface SelectProps {
  readonly label: string;
  /** What nothing chosen means. */
  readonly all: string;
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
  readonly children: ReactNode;
}

const Select = ({ label, all, value, onChange, children }: SelectProps) => (
  <select
    aria-label={label}
    value={value ?? ''}
    onChange={({ target }) => onChange(target.value)}
    className={`${CONTROL} max-sm:w-full sm:max-w-56`}
  >
    <option value="">{all}</option>
    {children}
  </select>
);
