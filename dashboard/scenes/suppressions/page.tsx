import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Segments } from '../../components/forms/segments.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty, PageHead } from '../../components/frame/page.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import {
  type Reason,
  type Suppression,
  type SuppressionFilter,
  suppressionsQuery,
  useRemoveSuppression,
} from './queries.ts';

const REASONS: readonly (readonly [Reason, string])[] = [
  ['hard_bounce', 'No such address'],
  ['complaint', 'Complaint'],
];

interface SuppressionsPageProps {
  readonly filter: SuppressionFilter;
  readonly onFilter: (filter: SuppressionFilter) => void;
}

/** Addresses that are not written to any more. */
export function SuppressionsPage({ filter, onFilter }: SuppressionsPageProps) {
  const address = useDeferredValue(filter.address.trim().toLowerCase());
  const list = useInfiniteQuery(suppressionsQuery({ ...filter, address }));
  const [removing, setRemoving] = useState<Suppression>();
  const isFiltered = address !== '' || filter.reason !== undefined;
  return (
    <>
      <PageHead title="Suppressions" />
      <p className="mb-4 max-w-2xl text-muted">
        Nothing more is sent to an address that does not exist, or whose owner complained. This protects the reputation
        of your domains.
      </p>
      <div className="mb-3 flex flex-wrap gap-3">
        <input
          type="search"
          aria-label="Only this address"
          placeholder="Full address"
          value={filter.address}
          onChange={(event) => onFilter({ ...filter, address: event.target.value })}
          className="h-8 w-64 rounded-md border border-line-strong bg-panel px-3 placeholder:text-faint max-sm:h-11 max-sm:w-full max-sm:text-base"
        />
        <Segments
          label="Reason"
          value={filter.reason ?? 'any'}
          options={[['any', 'Any reason'], ...REASONS]}
          onChange={(next) => onFilter({ ...filter, reason: next === 'any' ? undefined : next })}
        />
      </div>
      <PagedList
        key={`${filter.reason ?? ''} ${address}`}
        label="Suppressions"
        query={list}
        empty={
          isFiltered ? (
            <Empty title="No entry found">
              <p>Nothing of this address and reason is suppressed.</p>
            </Empty>
          ) : (
            <Empty title="Nothing is suppressed">
              <p>Addresses appear here when a mail host says that they do not exist, or reports a complaint.</p>
            </Empty>
          )
        }
      >
        {(entry) => (
          <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_150px_130px_auto]">
            <span className="min-w-0 font-medium break-all">{entry.address}</span>
            <span>
              <Badge meaning={entry.reason === 'complaint' ? 'stop' : 'wait'}>
                {REASONS.find(([reason]) => reason === entry.reason)?.[1] ?? entry.reason}
              </Badge>
            </span>
            <span className="text-muted">
              <Time value={entry.createdAt} />
            </span>
            <Button aria-label={`Remove ${entry.address}`} onClick={() => setRemoving(entry)}>
              Remove
            </Button>
          </div>
        )}
      </PagedList>
      {removing === undefined ? null : <Remove entry={removing} onClose={() => setRemoving(undefined)} />}
    </>
  );
}

function Remove({ entry, onClose }: { readonly entry: Suppression; readonly onClose: () => void }) {
  const remove = useRemoveSuppression();
  return (
    <Confirm
      title={`Write to ${entry.address} again?`}
      consequence={
        entry.reason === 'complaint'
          ? 'Its owner reported a message as abuse. Remove it only when the owner asked for mail again: another complaint harms all senders of your domains.'
          : 'The address did not exist. If it still does not, the next message bounces and it is put here again.'
      }
      action="Remove"
      change={remove}
      onConfirm={() => remove.mutate(entry.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}
