import { type ReactNode, useEffect, useState } from 'react';
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

/**
 * The credential of a link, from behind the `#` of the address, where no server and no log sees it. It is taken out of
 * the address, so that it stays neither in the history nor in a screenshot; a reload of the page needs the link again.
 *
 * @returns undefined when there is none
 */
export function useLinkToken(): string | undefined {
  const [token] = useState(() => decodeURIComponent(location.hash.slice(1)));
  // Not in an effect: nothing that runs after the page is shown may find it in the address.
  if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search);
  return token === '' ? undefined : token;
}
