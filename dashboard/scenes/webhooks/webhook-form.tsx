import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useState } from 'react';
import { Problem } from '../../api/client.ts';
import { Field } from '../../components/forms/form.tsx';
import { Tick } from '../../components/forms/settings.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Failure } from '../../components/frame/page.tsx';
import { type EventType, eventTypesQuery, urlCheckQuery } from './queries.ts';

const SETTLED_MS = 350;
/** Until it looks like one, it is being typed. */
const LOOKS_WHOLE = /^[a-z][a-z0-9+.-]*:\/\/[^/]/i;

interface UrlFieldProps {
  readonly value: string;
  readonly onChange: (url: string) => void;
  /** What the service said about it when the form was sent. */
  readonly error?: string | undefined;
  /** The address there is already: it needs no check. */
  readonly known?: string;
}

/** What the service said about the fields of the form, and what is about none of them. */
export function webhookProblems(error: unknown) {
  const problem = error instanceof Problem ? error : undefined;
  const about = {
    url: problem?.about('/url'),
    events: problem?.details.find(({ path }) => path.startsWith('/eventTypes'))?.message,
    header: problem?.about('/authHeader'),
    mailbox: problem?.about('/mailboxId'),
  };
  return { ...about, other: Object.values(about).some((each) => each !== undefined) ? undefined : error };
}

/** The address of an endpoint, checked by the service while it is typed: what it says now, creating would say. */
export function UrlField({ value, onChange, error, known }: UrlFieldProps) {
  const url = value.trim();
  const settled = useSettled(url);
  const asks = settled !== known && LOOKS_WHOLE.test(settled);
  const check = useQuery({ ...urlCheckQuery(settled), enabled: asks });
  const isAbout = asks && settled === url;
  const refused = isAbout && check.error instanceof Problem ? check.error : undefined;
  return (
    <div aria-live="polite">
      <Field
        label="URL"
        name="url"
        type="url"
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        placeholder="https://"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        error={error ?? (refused === undefined ? undefined : (refused.about('/url') ?? refused.message))}
        hint={hintOf(isAbout, check.isFetching, check.data?.url)}
      />
    </div>
  );
}

function hintOf(isAbout: boolean, checking: boolean, url: string | undefined) {
  if (isAbout && url !== undefined)
    return <span className="text-ok">It resolves to public addresses: {new URL(url).host}</span>;
  if (isAbout && checking) return 'Checking the address…';
  return 'It must be https and publicly reachable.';
}

/** The value once it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

const TICK_ROW = 'flex items-start gap-3 px-3 py-2 max-sm:min-h-11';

interface EventPickerProps {
  readonly chosen: readonly EventType[];
  readonly onChange: (chosen: EventType[]) => void;
  /** The endpoint is one of a mailbox: some events do not reach it. */
  readonly mailboxScope: boolean;
  readonly error?: string | undefined;
}

/** Which events an endpoint gets, a sentence each. */
export function EventPicker({ chosen, onChange, mailboxScope, error }: EventPickerProps) {
  const id = useId();
  const types = useQuery(eventTypesQuery);
  const all = types.data?.data ?? [];
  const reaching = all.filter(({ scopes }) => (mailboxScope ? scopes.mailbox : scopes.organization));
  const unreachable = all.filter((each) => !reaching.includes(each));
  const toggle = (type: EventType, on: boolean) =>
    onChange(all.map((each) => each.type).filter((each) => (each === type ? on : chosen.includes(each))));
  return (
    <fieldset className="grid gap-2" aria-describedby={error === undefined ? undefined : id}>
      <div className="flex items-center gap-2">
        <legend className="contents">
          <span className="flex-1 font-medium">Events</span>
        </legend>
        <Button
          look="quiet"
          onClick={() => onChange(chosen.length === reaching.length ? [] : reaching.map(({ type }) => type))}
        >
          {chosen.length === reaching.length ? 'None' : 'All'}
        </Button>
      </div>
      {error === undefined ? null : (
        <p id={id} className="text-stop">
          {error}
        </p>
      )}
      <Failure query={types} />
      <ul className="grid rounded-lg border border-line">
        {[...reaching, ...unreachable].map((each) => {
          const canReach = reaching.includes(each);
          return (
            <li key={each.type} className="border-t border-line first:border-t-0">
              <Tick
                type="checkbox"
                className={TICK_ROW}
                disabled={!canReach}
                checked={canReach && chosen.includes(each.type)}
                onChange={(event) => toggle(each.type, event.target.checked)}
              >
                <span className={canReach ? '' : 'text-muted'}>
                  <span className="block font-mono text-[13px]">{each.type}</span>
                  <span className="block text-muted">
                    {canReach ? each.summary : 'Reaches endpoints of the whole organization only.'}
                  </span>
                </span>
              </Tick>
            </li>
          );
        })}
      </ul>
    </fieldset>
  );
}

export interface AuthHeader {
  readonly name: string;
  readonly value: string;
}

interface HeaderFieldsProps {
  readonly header: AuthHeader;
  readonly onChange: (header: AuthHeader) => void;
  readonly error?: string | undefined;
}

/** A header that is sent along with each delivery. Both empty: none. */
export function HeaderFields({ header, onChange, error }: HeaderFieldsProps) {
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <Field
        label="Header name"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="X-Hook-Token"
        value={header.name}
        onChange={(event) => onChange({ ...header, name: event.target.value })}
        error={error}
        hint="Optional. By it your server knows the sender."
      />
      <Field
        label="Header value"
        type="password"
        autoComplete="off"
        value={header.value}
        onChange={(event) => onChange({ ...header, value: event.target.value })}
        hint="Kept encrypted and never shown again."
      />
    </div>
  );
}

/** What deliveries have beyond the event and its `v1` signature. */
export interface DeliveryOptions {
  readonly publicKeySignature: boolean;
  readonly includeExtracts: boolean;
}

interface DeliveryOptionFieldsProps {
  readonly options: DeliveryOptions;
  readonly onChange: (options: DeliveryOptions) => void;
}

export function DeliveryOptionFields({ options, onChange }: DeliveryOptionFieldsProps) {
  return (
    <fieldset className="grid gap-2">
      <legend className="contents">
        <span className="font-medium">Deliveries</span>
      </legend>
      <ul className="grid rounded-lg border border-line">
        {OPTIONS.map(({ name, label, hint }) => (
          <li key={name} className="border-t border-line first:border-t-0">
            <Tick
              type="checkbox"
              className={TICK_ROW}
              checked={options[name]}
              onChange={(event) => onChange({ ...options, [name]: event.target.checked })}
            >
              <span className="block">{label}</span>
              <span className="block text-muted">{hint}</span>
            </Tick>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

const OPTIONS: readonly { name: keyof DeliveryOptions; label: string; hint: string }[] = [
  {
    name: 'publicKeySignature',
    label: 'Add a public key signature (v1a)',
    hint: 'Your server verifies it with a public key and needs no secret.',
  },
  {
    name: 'includeExtracts',
    label: 'Send codes and links of received mail',
    hint: 'Anybody who sees a delivery, here or in the logs of your server, can use its codes.',
  },
];
