import type { FormEvent } from 'react';
import { Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { type Direction, useTestLists, type Verdict } from './queries.ts';

/** Asks what the lists say about one address, before mail shows it. */
export function TestAddress({ direction }: { readonly direction: Direction }) {
  const test = useTestLists();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    test.mutate({ direction, address: textOfField(new FormData(event.currentTarget), 'address').trim() });
  };
  return (
    <section aria-labelledby="test-address" className="grid gap-3 rounded-lg border border-line bg-panel p-4">
      <div>
        <h2 id="test-address">Test an address</h2>
        <p className="text-muted">
          {direction === 'inbound' ? 'Is mail from it accepted?' : 'May agents write to it without an approval?'}
        </p>
      </div>
      <form onSubmit={submit} className="grid gap-3">
        <Field label="Address" name="address" type="email" required autoComplete="off" />
        <Button type="submit" busy={test.isPending}>
          Test
        </Button>
      </form>
      <ProblemNote error={test.error} />
      <div aria-live="polite">
        {test.data === undefined ? null : <Outcome verdict={test.data} direction={direction} />}
      </div>
    </section>
  );
}

function Outcome({
  verdict: { action, rule },
  direction,
}: {
  readonly verdict: Verdict;
  readonly direction: Direction;
}) {
  if (action === null)
    return (
      <p>
        <Badge meaning="none">No entry</Badge>{' '}
        {direction === 'inbound'
          ? 'No entry matches, so its mail is accepted.'
          : 'No entry matches, so the approval rules of the organization apply.'}
      </p>
    );
  return (
    <p>
      <Badge meaning={action === 'allow' ? 'ok' : 'stop'}>{action === 'allow' ? 'Allowed' : 'Blocked'}</Badge> by the
      entry <span className="font-medium break-all">{rule}</span>.
    </p>
  );
}
