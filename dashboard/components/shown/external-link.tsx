import { ArrowUpRight } from 'lucide-react';
import type { ReactNode } from 'react';

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
