/**
 * What every page is made of: its head and the title of the browser's tab, what is shown while its data is loading, missing or
 * refused, and the guard against clicks on what has just moved.
 */
import { type ReactNode, useEffect, useState } from 'react';
import { Problem } from '../../problem.ts';
import { Button } from './button.tsx';

export interface HeadProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly children?: ReactNode;
}

/** The head of a page, which is also its title in the browser. */
export function PageHead({ title, note, children }: HeadProps) {
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

/** The title of the browser's tab: how much waits for the person, the page, the product. */
const PRODUCT = 'Agent Mailbox';

let page = '';
let waiting = '';

function show(): void {
  const title = page === '' ? PRODUCT : `${page} · ${PRODUCT}`;
  document.title = waiting === '' ? title : `(${waiting}) ${title}`;
}

export function setPageTitle(title: string): void {
  page = title;
  show();
}

/** @param count what is shown in front of the title; empty: nothing */
export function setWaitingCount(count: string): void {
  waiting = count;
  show();
}

/** What went wrong and what to do, in the service's own words. */
export function ProblemNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  if (error === null || error === undefined) return null;
  const problem = error instanceof Problem ? error : undefined;
  return (
    <div ref={movesContent} role="alert" className="rounded-lg border border-stop/40 bg-stop-soft px-4 py-3">
      <p className="font-medium text-stop">{problem?.message ?? 'Something went wrong on this page.'}</p>
      <p>{problem?.fix ?? 'Reload it. If that does not help, tell the operator of the service.'}</p>
      {(problem?.details.length ?? 0) > 0 ? (
        <ul className="mt-1 list-disc pl-5">
          {problem?.details.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code className="font-mono text-[13px]">{path}</code> {message}
            </li>
          ))}
        </ul>
      ) : null}
      {problem?.requestId === undefined ? null : (
        <p className="mt-1 text-muted">
          Request <code className="font-mono text-[13px]">{problem.requestId}</code>
        </p>
      )}
      {onRetry === undefined ? null : (
        <Button className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** The part of a query that its states need. */
export interface QueryState<Data = unknown> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  refetch(): unknown;
}

/** Why a query has no answer, and another attempt; nothing when it has one. */
export const Failure = ({ query }: { readonly query: Pick<QueryState, 'error' | 'refetch'> }) => (
  <ProblemNote error={query.error} onRetry={() => void query.refetch()} />
);

/** A page whose data has not come: its head, and why. */
export const NotLoaded = ({ title, query }: { readonly title: string; readonly query: QueryState }) => (
  <>
    <PageHead title={title} />
    <Failure query={query} />
  </>
);

/** What would be here, and the first step. */
export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="grid justify-items-center gap-3 rounded-lg border border-dashed border-line-strong px-6 py-12 text-center">
      <h2>{title}</h2>
      <div className="grid max-w-md justify-items-center gap-3 text-muted">{children}</div>
    </div>
  );
}

/** Shorter waits show nothing: a flash is worse than a moment of nothing. */
const SHOWN_AFTER_MS = 300;
const WIDTHS = ['w-2/3', 'w-1/2', 'w-3/4', 'w-2/5', 'w-3/5'] as const;

/** Grey rows in place of content that is loading. */
export function Skeleton({ rows = 4 }: { readonly rows?: number }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return null;
  return (
    <div role="status" className="grid rounded-lg border border-line bg-panel">
      <span className="sr-only">Loading…</span>
      {Array.from({ length: rows }, (_, row) => (
        <div
          key={row}
          aria-hidden
          className="flex h-12 items-center border-t border-line px-4 first-of-type:border-t-0"
        >
          <span className={`h-3 animate-pulse rounded bg-line ${WIDTHS[row % WIDTHS.length]}`} />
        </div>
      ))}
    </div>
  );
}

/** So long after the content of a page has moved, a click is not taken: it was meant for what was there before. */
const SHIFT_GUARD_MS = 600;

/** On the document while its content has just moved; styles.css takes the pointer from everything below it. */
const SHIFTED = 'data-shifted';
/** What menus and dialogs take for a click beside them. */
const PRESSES = ['pointerdown', 'mousedown', 'touchstart'] as const;

let timer: ReturnType<typeof setTimeout> | undefined;

const swallow = (event: Event): void => event.stopImmediatePropagation();

function guardClicks(): void {
  clearTimeout(timer);
  document.documentElement.setAttribute(SHIFTED, '');
  for (const press of PRESSES) addEventListener(press, swallow, { capture: true });
  timer = setTimeout(() => {
    document.documentElement.removeAttribute(SHIFTED);
    for (const press of PRESSES) removeEventListener(press, swallow, { capture: true });
  }, SHIFT_GUARD_MS);
}

/**
 * `ref` of an element that comes, changes its height or goes without a person's doing, and moves what is below it:
 * after each of these no click is taken for a moment. Keys act on what has the focus and are taken.
 */
export function movesContent(element: HTMLElement | null): (() => void) | undefined {
  if (element === null) return undefined;
  guardClicks();
  let height = element.offsetHeight;
  const sizes = new ResizeObserver(() => {
    if (element.offsetHeight === height) return;
    height = element.offsetHeight;
    guardClicks();
  });
  sizes.observe(element);
  return () => {
    sizes.disconnect();
    guardClicks();
  };
}
