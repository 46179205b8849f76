import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { Empty } from '../../../components/frame/empty.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { VirtualRows } from '../../../components/lists/virtual-rows.tsx';
import { Countdown } from '../../../components/shown/countdown.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { type Delivery, type DeliveryFilters, deliveriesQuery } from '../queries.ts';
import { DeliveryStatus, REASONS } from '../states.tsx';
import { DeliveryFilterBar } from './delivery-filters.tsx';

const ROW_HEIGHT = 49;

export interface DeliveriesProps {
  readonly id: string;
  readonly filters: DeliveryFilters;
  readonly onFilters: (filters: DeliveryFilters) => void;
}

/** The deliveries of an endpoint, newest first: narrowed and paged by the service. */
export function Deliveries({ id, filters, onFilters }: DeliveriesProps) {
  const list = useInfiniteQuery(deliveriesQuery(id, filters));
  const [refreshed, setRefreshed] = useState(0);
  const total = list.data?.pages.at(-1)?.total;
  const isNarrowed = Object.keys(filters).length > 0;
  return (
    <section aria-label="Deliveries" className="grid min-w-0 gap-3">
      <div className="flex items-baseline gap-3">
        <h2>Deliveries</h2>
        <span className="text-muted" aria-live="polite">
          {total === undefined ? '' : `${total.toLocaleString()}${isNarrowed ? ' match' : ' in 30 days'}`}
        </span>
        <Button
          look="quiet"
          className="ml-auto"
          aria-label="Refresh the deliveries"
          busy={list.isRefetching}
          onClick={() => void list.refetch().then(() => setRefreshed(refreshed + 1))}
        >
          <RefreshCw size={16} aria-hidden />
        </Button>
      </div>
      <DeliveryFilterBar filters={filters} onFilters={onFilters} />
      {list.isError ? <ProblemNote error={list.error} onRetry={() => void list.refetch()} /> : null}
      <VirtualRows
        key={`${refreshed} ${JSON.stringify(filters)}`}
        label="Deliveries"
        query={list}
        keyOf={(delivery) => delivery.id}
        rowHeight={ROW_HEIGHT}
        {...(total === undefined ? {} : { total })}
        empty={
          isNarrowed ? (
            <Empty title="No delivery matches">
              <p>Deliveries are kept for 30 days.</p>
              <Button onClick={() => onFilters({})}>Show all</Button>
            </Empty>
          ) : (
            <Empty title="No deliveries yet">
              <p>Each event becomes a delivery here. Send a test event to see one.</p>
            </Empty>
          )
        }
      >
        {(delivery) => <Row delivery={delivery} />}
      </VirtualRows>
      {list.isFetchingNextPage ? <p className="text-center text-muted">Loading…</p> : null}
    </section>
  );
}

function Row({ delivery }: { readonly delivery: Delivery }) {
  const { id, endpointId, eventType, status, reason, responseCode, attemptCount, maxAttempts, createdAt } = delivery;
  return (
    <Link
      to="/webhooks/$id/deliveries/$did"
      params={{ id: endpointId, did: id }}
      title={id}
      className="grid items-center gap-x-4 gap-y-1 px-4 py-3 text-text! no-underline hover:bg-sunken sm:h-12 sm:grid-cols-[104px_minmax(0,1fr)_minmax(0,1.7fr)_112px] sm:py-0"
    >
      <span>
        <DeliveryStatus status={status} />
      </span>
      <span className="truncate font-mono text-[13px]">{eventType}</span>
      <span className="truncate text-muted">
        {responseCode === null ? '' : `${responseCode} · `}
        {attemptCount === 0 ? 'no attempt yet' : `attempt ${attemptCount} of ${Math.max(maxAttempts, attemptCount)}`}
        {reason === null ? '' : ` · ${REASONS[reason]}`}
        {status === 'failed' && delivery.nextAttemptAt !== null ? (
          <>
            {' · again '}
            <Countdown value={delivery.nextAttemptAt} />
          </>
        ) : null}
      </span>
      <span className="whitespace-nowrap text-muted sm:text-right">
        <Time value={createdAt} />
      </span>
    </Link>
  );
}
