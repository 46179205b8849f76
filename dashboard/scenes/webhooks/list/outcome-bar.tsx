import type { StatusCounts } from '../queries.ts';
import { STATUS_MEANINGS, STATUSES } from '../states.tsx';

const COLOURS = { success: 'fill-ok', failed: 'fill-wait', pending: 'fill-info', exhausted: 'fill-stop' } as const;
const WIDTH = 100;
/** A single failure among thousands must still be seen. */
const SMALLEST = 3;

/** Deliveries by outcome as one bar, with the same in words. */
export function OutcomeBar({ counts }: { readonly counts: StatusCounts }) {
  const present = STATUSES.filter((status) => counts[status] > 0);
  const total = present.reduce((sum, status) => sum + counts[status], 0);
  if (total === 0) return <span className="text-muted">no deliveries in 24 h</span>;
  const widths = present.map((status) => Math.max(SMALLEST, (counts[status] / total) * WIDTH));
  const sum = widths.reduce((all, width) => all + width, 0);
  let x = 0;
  return (
    <div className="grid gap-1">
      <svg aria-hidden viewBox={`0 0 ${WIDTH} 6`} preserveAspectRatio="none" className="h-1.5 w-full rounded-full">
        {present.map((status, i) => {
          const width = ((widths[i] ?? 0) / sum) * WIDTH;
          x += width;
          return <rect key={status} x={x - width} width={width} height={6} className={COLOURS[status]} />;
        })}
      </svg>
      <span className="text-[13px] text-muted">
        {present
          .map((status) => `${counts[status].toLocaleString()} ${STATUS_MEANINGS[status][1].toLowerCase()}`)
          .join(' · ')}
      </span>
    </div>
  );
}
