import type { ReactNode } from 'react';

export type Fact = readonly [title: string, value: ReactNode];

/** What there is to know about one thing, beside it. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl aria-label="Facts" className="grid gap-3.5">
      {facts.map(([title, value]) => (
        <div key={title} className="min-w-0">
          <dt className="text-xs text-muted">{title}</dt>
          <dd className="mt-0.5 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
