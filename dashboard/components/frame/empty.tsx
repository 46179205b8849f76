import type { ReactNode } from 'react';

/** What would be here, and the first step. */
export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="grid justify-items-center gap-3 rounded-lg border border-dashed border-line-strong px-6 py-12 text-center">
      <h2>{title}</h2>
      <div className="grid max-w-md justify-items-center gap-3 text-muted">{children}</div>
    </div>
  );
}
