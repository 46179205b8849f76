import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Failure } from '../../../components/frame/page.tsx';
import { statsQuery } from '../queries.ts';
import { STATUS_MEANINGS, STATUSES } from '../states.tsx';

const Chart = lazy(() => import('./chart.tsx'));

const DOTS = { success: 'bg-ok', failed: 'bg-wait', pending: 'bg-info', exhausted: 'bg-stop' } as const;
const HOUR_MS = 3_600_000;

interface LastDayProps {
  readonly id: string;
  /** Narrows the list of deliveries to an hour. */
  readonly onHour: (since: string, until: string) => void;
}

/** The last 24 hours by outcome: the sums, the hours as a chart, and as a table for screen readers. */
export function LastDay({ id, onHour }: LastDayProps) {
  const stats = useQuery(statsQuery(id));
  if (stats.isError) return <Failure query={stats} />;
  const { total, hours = [] } = stats.data ?? {};
  return (
    <section aria-label="Last 24 hours" className="rounded-lg border border-line bg-panel p-4">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1 pb-3">
        <h2 className="mr-auto">Last 24 hours</h2>
        {STATUSES.map((status) => (
          <span key={status} className="inline-flex items-baseline gap-1.5">
            <span aria-hidden className={`size-2 rounded-full ${DOTS[status]}`} />
            <span className="font-medium">{total === undefined ? '–' : total[status].toLocaleString()}</span>
            <span className="text-muted">{STATUS_MEANINGS[status][2]}</span>
          </span>
        ))}
      </div>
      <Suspense fallback={<div className="h-[140px]" />}>
        {hours.length === 0 ? <div className="h-[140px]" /> : <Chart hours={hours} />}
      </Suspense>
      <div className="sr-only focus-within:not-sr-only focus-within:overflow-x-auto">
        <table>
          <caption>Deliveries of the last 24 hours, by the hour in which they were made</caption>
          <thead>
            <tr>
              <th scope="col">Hour</th>
              {STATUSES.map((status) => (
                <th key={status} scope="col">
                  {STATUS_MEANINGS[status][1]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {hours.map((hour) => {
              const start = new Date(hour.from);
              const until = new Date(start.getTime() + HOUR_MS).toISOString();
              return (
                <tr key={hour.from}>
                  <th scope="row">
                    <button type="button" onClick={() => onHour(hour.from, until)}>
                      {start.toLocaleString(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' })}
                    </button>
                  </th>
                  {STATUSES.map((status) => (
                    <td key={status}>{hour[status].toLocaleString()}</td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
