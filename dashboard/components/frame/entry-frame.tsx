import { type ReactNode, useEffect } from 'react';
import { setPageTitle } from './page.tsx';

/** The page around what a person does before the sign-in: one form in the middle, nothing beside it. */
export function EntryFrame({
  title,
  note,
  children,
  below,
}: {
  readonly title: string;
  readonly note?: ReactNode;
  readonly children: ReactNode;
  /** Other ways, under the form. */
  readonly below?: ReactNode;
}) {
  useEffect(() => setPageTitle(title), [title]);
  return (
    <main className="grid min-h-dvh content-center justify-items-center gap-4 p-4">
      <div className="flex items-center gap-2 font-semibold">
        <img src="/icon.svg" alt="" className="size-6" />
        Agent Mailbox
      </div>
      <div className="grid w-full max-w-sm gap-4 rounded-lg border border-line bg-panel p-6">
        <div className="grid gap-1">
          <h1 className="break-words">{title}</h1>
          {note === undefined ? null : <div className="break-words text-muted">{note}</div>}
        </div>
        {children}
      </div>
      {below === undefined ? null : <div className="text-muted">{below}</div>}
    </main>
  );
}
