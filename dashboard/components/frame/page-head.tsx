import { type ReactNode, useEffect } from 'react';
import { setPageTitle } from './document-title.ts';

/** The head of a page, which is also its title in the browser. */
export function PageHead({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: ReactNode;
  readonly children?: ReactNode;
}) {
  useEffect(() => setPageTitle(title), [title]);
  return (
    <div className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2">
      <h1 className="min-w-0 break-words">{title}</h1>
      {note === undefined ? null : <div className="text-muted">{note}</div>}
      <div className="flex-1" />
      {children}
    </div>
  );
}
