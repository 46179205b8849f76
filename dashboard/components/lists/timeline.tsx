import type { ReactNode } from 'react';

const DOTS = {
  ok: 'bg-ok',
  wait: 'bg-wait',
  stop: 'bg-stop',
  info: 'bg-info',
  none: 'bg-line-strong',
} as const;

export interface TimelineEntry {
  readonly key: string;
  /** ISO 8601. Undefined: not yet, such as an attempt that is still to come. */
  readonly at: string | undefined;
  readonly meaning: keyof typeof DOTS;
  readonly title: ReactNode;
  /** Beside the title: links and actions. */
  readonly aside?: ReactNode;
  /** Below it: what there is to read. */
  readonly children?: ReactNode;
  /** What was searched for. */
  readonly current?: boolean;
}

/** What happened, one thing after another, each with its exact time. */
export function Timeline({ label, entries }: { readonly label: string; readonly entries: readonly TimelineEntry[] }) {
  let day = '';
  return (
    <ol aria-label={label} className="rounded-lg border border-line bg-panel px-4 py-3">
      {entries.map(({ key, at, meaning, title, aside, children, current = false }) => {
        const date = at === undefined ? day : new Date(at).toLocaleDateString(undefined, { dateStyle: 'long' });
        const isNewDay = date !== day;
        day = date;
        return (
          <li
            key={key}
            aria-current={current || undefined}
            className="group grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 sm:grid-cols-[104px_auto_minmax(0,1fr)]"
          >
            {isNewDay ? (
              <p className="col-span-full pt-1 pb-2 text-xs font-medium text-muted sm:pl-[104px]">{date}</p>
            ) : null}
            <p className="pt-0.5 text-right text-[13px] text-muted max-sm:hidden">
              {at === undefined ? 'to come' : <ClockTime value={at} />}
            </p>
            <div aria-hidden className="flex w-3 flex-col items-center pt-2">
              <span className={`size-2.5 shrink-0 rounded-full ${DOTS[meaning]}`} />
              <span className="mt-1 w-px flex-1 bg-line group-last:hidden" />
            </div>
            <div className="grid min-w-0 gap-1 rounded-md px-2 pb-4 group-last:pb-1 group-aria-[current]:bg-accent-soft">
              <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1 pt-0.5">
                <div className="min-w-0 [overflow-wrap:anywhere]">{title}</div>
                {aside === undefined ? null : <div className="flex flex-wrap gap-x-3 sm:ml-auto">{aside}</div>}
              </div>
              <p className="text-[13px] text-muted sm:hidden">
                {at === undefined ? 'to come' : <ClockTime value={at} />}
              </p>
              {children}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

/** The time of day of a moment to the millisecond, in the zone of the reader; the exact time in UTC on hover. */
function ClockTime({ value }: { readonly value: string }) {
  const time = new Date(value);
  const shown = time.toLocaleTimeString(undefined, {
    hour12: false,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return (
    <time dateTime={value} title={`${time.toLocaleString()} · ${value}`} className="whitespace-nowrap">
      {shown}
      <span className="text-faint">.{String(time.getMilliseconds()).padStart(3, '0')}</span>
    </time>
  );
}
