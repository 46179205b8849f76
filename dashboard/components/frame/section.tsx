/** Parts of a page that are about one thing, and what is shown of a query in them. */
import { type ReactNode, useId } from 'react';
import { Failure, type HeadProps, type QueryState, Skeleton } from './page.tsx';

interface SectionProps extends HeadProps {
  /** A button beside the heading. */
  readonly aside?: ReactNode;
  /** Default: 2. */
  readonly level?: 2 | 3;
  readonly className?: string;
}

/** A part of a page under its own heading. */
export function Section({ title, note, aside, level = 2, className = 'grid gap-3', children }: SectionProps) {
  const id = useId();
  const head = (
    <>
      {level === 2 ? (
        <h2 id={id}>{title}</h2>
      ) : (
        <h3 id={id} className="font-medium">
          {title}
        </h3>
      )}
      {note === undefined ? null : <p className="text-muted">{note}</p>}
    </>
  );
  return (
    <section aria-labelledby={id} className={className}>
      {aside === undefined ? (
        <div>{head}</div>
      ) : (
        <div className="flex flex-wrap items-center gap-3">
          <div className={note === undefined ? 'flex-1' : 'min-w-0 flex-1 basis-64'}>{head}</div>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}

interface LoadedProps<Data> {
  readonly query: QueryState<Data>;
  /** Grey rows while it is loading. */
  readonly rows?: number;
  readonly children: (data: Data) => ReactNode;
}

/** What is shown of the answer to a query; grey rows or a note where there is none. */
export function Loaded<Data>({ query, rows = 4, children }: LoadedProps<Data>) {
  return (
    <>
      {query.isPending ? <Skeleton rows={rows} /> : null}
      <Failure query={query} />
      {query.data === undefined ? null : children(query.data)}
    </>
  );
}
