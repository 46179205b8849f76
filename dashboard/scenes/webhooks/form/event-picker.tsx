import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { type EventType, eventTypesQuery } from '../queries.ts';

export interface EventPickerProps {
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
      {types.isError ? <ProblemNote error={types.error} onRetry={() => void types.refetch()} /> : null}
      <ul className="grid rounded-lg border border-line">
        {[...reaching, ...unreachable].map((each) => {
          const canReach = reaching.includes(each);
          return (
            <li key={each.type} className="border-t border-line first:border-t-0">
              <label className="flex items-start gap-3 px-3 py-2 max-sm:min-h-11">
                <input
                  type="checkbox"
                  className="mt-0.5 size-4 shrink-0 accent-accent"
                  disabled={!canReach}
                  checked={canReach && chosen.includes(each.type)}
                  onChange={(event) => toggle(each.type, event.target.checked)}
                />
                <span className={canReach ? '' : 'text-muted'}>
                  <span className="block font-mono text-[13px]">{each.type}</span>
                  <span className="block text-muted">
                    {canReach ? each.summary : 'Reaches endpoints of the whole organization only.'}
                  </span>
                </span>
              </label>
            </li>
          );
        })}
      </ul>
    </fieldset>
  );
}
