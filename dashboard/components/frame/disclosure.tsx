import type { ReactNode } from 'react';

/** Something long that is read on demand. */
export function Disclosure({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <details className="min-w-0">
      <summary className="w-fit cursor-default rounded-md py-0.5 text-accent max-sm:py-2.5">{title}</summary>
      <div className="pt-1">{children}</div>
    </details>
  );
}
