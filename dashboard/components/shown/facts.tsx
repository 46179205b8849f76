import { ArrowUpRight } from 'lucide-react';
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

/** A link to a page of another program, such as the Temporal UI; it opens beside this one. */
export function ExternalLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" className="inline-flex items-center gap-0.5">
      {children}
      <ArrowUpRight size={14} aria-hidden />
      <span className="sr-only"> (opens in a new tab)</span>
    </a>
  );
}
