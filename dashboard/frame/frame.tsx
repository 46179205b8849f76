import { useQueryClient } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { activeOrganizationId } from '../api/client.ts';
import { followOrganization } from '../api/live.ts';
import { useSignedIn } from '../api/session.ts';
import { isTaken, useKeys } from '../components/frame/keys.ts';
import { AccountButton, OrganizationButton } from './menu-buttons.tsx';
import { Navigation } from './navigation.tsx';

const KeyHelp = lazy(async () => ({ default: (await import('./key-help.tsx')).KeyHelp }));
const SecondFactorNote = lazy(() => import('./second-factor-note.tsx'));
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

/** What is around every page of a signed-in person: beside it, or above and below it on a phone. */
export function Frame() {
  useLive();
  const { organization, missesSecondFactor } = useSignedIn();
  const [shown, setShown] = useState<'palette' | 'keys'>();
  const close = () => setShown(undefined);
  useGlobalKeys({ palette: () => setShown('palette'), help: () => setShown('keys') });
  return (
    <div className="grid min-h-dvh grid-cols-[216px_minmax(0,1fr)] max-sm:grid-cols-[minmax(0,1fr)] max-sm:grid-rows-[auto_1fr] max-sm:pb-16">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-30 focus:rounded-md focus:border focus:border-line-strong focus:bg-panel focus:p-2"
      >
        Skip to the content
      </a>
      <header className="sticky top-0 flex h-dvh flex-col gap-2 border-r border-line bg-panel px-3 py-3 max-sm:static max-sm:h-auto max-sm:flex-row max-sm:items-center max-sm:border-r-0 max-sm:border-b max-sm:py-1">
        <div className="min-w-0 max-sm:flex-1">
          <OrganizationButton />
        </div>
        <button
          type="button"
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => setShown('palette')}
          className="flex h-8 items-center gap-2 rounded-md border border-line bg-bg px-2 text-muted hover:border-line-strong max-sm:h-11 max-sm:border-0 max-sm:bg-panel"
        >
          <Search size={16} aria-hidden />
          <span className="flex-1 text-left max-sm:sr-only">Go to…</span>
          <kbd aria-hidden className="font-mono text-xs max-sm:hidden">
            Ctrl K
          </kbd>
        </button>
        <Navigation />
        <div className="flex-1 max-sm:hidden" />
        <AccountButton onShowKeys={() => setShown('keys')} />
      </header>
      <main id="content" tabIndex={-1} className="w-full max-w-[1184px] px-8 pt-6 pb-16 outline-none max-sm:p-3">
        {missesSecondFactor ? (
          <Suspense>
            <SecondFactorNote />
          </Suspense>
        ) : null}
        {/* Nothing that a page remembers of one organization is shown in another. */}
        <Outlet key={organization?.id} />
      </main>
      {shown === 'keys' ? (
        <Suspense>
          <KeyHelp onClose={close} />
        </Suspense>
      ) : null}
      {shown === 'palette' ? (
        <Suspense>
          <Palette onClose={close} />
        </Suspense>
      ) : null}
    </div>
  );
}

/** Keeps every page of the organization true while it is shown. */
function useLive(): void {
  const queries = useQueryClient();
  const organizationId = activeOrganizationId();
  // Everything that a page shows was answered after the first answer about the session.
  const [{ changesId }] = useState(useSignedIn());
  useEffect(() => {
    const shown = new AbortController();
    followOrganization(queries, organizationId, changesId, shown.signal);
    return () => shown.abort();
  }, [queries, organizationId, changesId]);
}

/** Keys that work on every page: Ctrl-K or ⌘K opens the palette, `?` the help. */
const useGlobalKeys = (keys: { readonly palette: () => void; readonly help: () => void }): void =>
  useKeys((event) => {
    const isPalette =
      event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (!isPalette && (event.key !== '?' || isTaken(event))) return;
    event.preventDefault();
    if (isPalette) keys.palette();
    else keys.help();
  });
