import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { localInput } from '../../../components/shown/local-time.ts';
import { type DeliveryFilters, eventTypesQuery } from '../queries.ts';
import { REASONS, STATUS_MEANINGS, STATUSES } from '../states.tsx';

const CONTROL =
  'h-8 min-w-0 rounded-md border border-line-strong bg-panel px-2 placeholder:text-faint max-sm:h-11 max-sm:w-full max-sm:text-base';
const CODE = /^(?:[1-5](?:\d\d|xx)|none)$/;
const REASON_CODES = Object.keys(REASONS) as (keyof typeof REASONS)[];

export interface DeliveryFilterBarProps {
  readonly filters: DeliveryFilters;
  readonly onFilters: (filters: DeliveryFilters) => void;
}

/** Narrows the list; the choice is part of the page's address. */
export function DeliveryFilterBar({ filters, onFilters }: DeliveryFilterBarProps) {
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

interface OneOfProps<Value extends string> {
  readonly label: string;
  /** Says that the list is not narrowed by it. */
  readonly any: string;
  readonly value: Value | undefined;
  readonly options: readonly (readonly [Value, string])[];
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
      {options.map(([option, title]) => (
        <option key={option} value={option}>
          {title}
        </option>
      ))}
    </select>
  );
}

/** `503`, `5xx` or `none`; taken when it is whole. */
function ResponseCode({
  value,
  onChange,
}: {
  readonly value: string | undefined;
  readonly onChange: (code: string | undefined) => void;
}) {
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

function Moment({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (moment: string | undefined) => void;
}) {
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
