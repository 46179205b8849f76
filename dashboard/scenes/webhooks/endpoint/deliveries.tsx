import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RefreshCw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { type Options, optionsOf } from '../../../components/forms/form.tsx';
import { Button } from '../../../components/frame/button.tsx';
import { Empty, Failure } from '../../../components/frame/page.tsx';
import { VirtualRows } from '../../../components/lists/virtual-rows.tsx';
import { Countdown } from '../../../components/shown/countdown.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { type Delivery, type DeliveryFilters, deliveriesQuery, eventTypesQuery } from '../queries.ts';
import { DeliveryStatus, REASONS, STATUS_MEANINGS, STATUSES } from '../states.tsx';
import { localInput } from './recovery.tsx';

const ROW_HEIGHT = 49;

interface DeliveriesProps {
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
      <Failure query={list} />
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

const CONTROL =
  'h-8 min-w-0 rounded-md border border-line-strong bg-panel px-2 placeholder:text-faint max-sm:h-11 max-sm:w-full max-sm:text-base';
const CODE = /^(?:[1-5](?:\d\d|xx)|none)$/;
const REASON_CODES = Object.keys(REASONS) as (keyof typeof REASONS)[];

/** Narrows the list; the choice is part of the page's address. */
function DeliveryFilterBar({ filters, onFilters }: Omit<DeliveriesProps, 'id'>) {
  const types = useQuery(eventTypesQuery).data?.data.map(({ type }) => type) ?? [];
  const change = <Name extends keyof DeliveryFilters>(name: Name, value: DeliveryFilters[Name] | undefined) => {
    const { [name]: _, ...others } = filters;
    onFilters(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <search className="flex flex-wrap items-end gap-2 max-sm:grid max-sm:grid-cols-2" aria-label="Filter deliveries">
      <OneOf
        label="Status"
        any="Any status"
        value={filters.status}
        options={STATUSES.map((status) => [status, STATUS_MEANINGS[status][1]])}
        onChange={(status) => change('status', status)}
      />
      <OneOf
        label="Event type"
        any="Any event"
        value={filters.eventType}
        options={types.map((type) => [type, type])}
        onChange={(type) => change('eventType', type)}
      />
      <OneOf
        label="Reason"
        any="Any reason"
        value={filters.reason}
        options={REASON_CODES.map((reason) => [reason, reason])}
        onChange={(reason) => change('reason', reason)}
      />
      <ResponseCode value={filters.responseCode} onChange={(code) => change('responseCode', code)} />
      <Moment label="From" value={filters.since} onChange={(since) => change('since', since)} />
      <Moment label="Until" value={filters.until} onChange={(until) => change('until', until)} />
      {Object.keys(filters).length === 0 ? null : (
        <Button look="quiet" onClick={() => onFilters({})}>
          Clear
        </Button>
      )}
    </search>
  );
}

const EVENT_TYPES = [
  'email_received',
  'email_sent',
  'email_blocked',
  'mailbox_created',
  'mailbox_deleted',
  'outbound_consent_requested',
  'outbound_consent_approved',
  'outbound_consent_denied',
  'email_delivered',
  'email_bounced',
  'email_complained',
] as const;

const oneOf = <Name extends string, Value extends string>(name: Name, values: readonly Value[], given: unknown) => {
  const value = values.find((each) => each === given);
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]: Value });
};
const textOf = (given: unknown): string =>
  typeof given === 'string' || typeof given === 'number' ? String(given) : '';
const moment = <Name extends string>(name: Name, given: unknown) =>
  Number.isNaN(Date.parse(textOf(given)))
    ? {}
    : ({ [name]: new Date(textOf(given)).toISOString() } as { [Key in Name]: string });

/** The filters in the address of the page; everything else is left out. */
export function deliveryFilters(search: Readonly<Record<string, unknown>>): DeliveryFilters {
  const code = textOf(search['responseCode']);
  return {
    ...oneOf('status', STATUSES, search['status']),
    ...oneOf('eventType', EVENT_TYPES, search['eventType']),
    ...oneOf('reason', REASON_CODES, search['reason']),
    ...(CODE.test(code) ? { responseCode: code } : {}),
    ...moment('since', search['since']),
    ...moment('until', search['until']),
  };
}

interface OneOfProps<Value extends string> {
  readonly label: string;
  /** Says that the list is not narrowed by it. */
  readonly any: string;
  readonly value: Value | undefined;
  readonly options: Options<Value>;
  readonly onChange: (value: Value | undefined) => void;
}

function OneOf<Value extends string>({ label, any, value, options, onChange }: OneOfProps<Value>) {
  return (
    <select
      aria-label={label}
      className={CONTROL}
      value={value ?? ''}
      onChange={({ target }) => onChange(options.find(([option]) => option === target.value)?.[0])}
    >
      <option value="">{any}</option>
      {optionsOf(options)}
    </select>
  );
}

interface FilterProps {
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** `503`, `5xx` or `none`; taken when it is whole. */
function ResponseCode({ value, onChange }: FilterProps) {
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  return (
    <input
      aria-label="Response code, such as 503, 5xx or none"
      placeholder="Code: 503, 5xx, none"
      className={`${CONTROL} sm:w-44`}
      autoCapitalize="none"
      spellCheck={false}
      value={text}
      onChange={(event) => {
        const code = event.target.value.trim().toLowerCase();
        setText(event.target.value);
        if (code === '') onChange(undefined);
        else if (CODE.test(code)) onChange(code);
      }}
    />
  );
}

function Moment({ label, value, onChange }: FilterProps & { readonly label: string }) {
  return (
    <label className="flex items-center gap-1.5 text-muted max-sm:grid max-sm:gap-0">
      {label}
      <input
        type="datetime-local"
        className={`${CONTROL} text-text`}
        value={value === undefined ? '' : localInput(value)}
        onChange={(event) =>
          onChange(event.target.value === '' ? undefined : new Date(event.target.value).toISOString())
        }
      />
    </label>
  );
}
