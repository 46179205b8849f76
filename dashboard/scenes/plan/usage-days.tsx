import { byteSize } from '../../components/shown/byte-size.ts';
import type { UsageDay } from './queries.ts';

const BAR_WIDTH = 64;
const BAR_HEIGHT = 8;

/** A bar beside a number, so that the eye finds the busy days. */
function Bar({ value, max, className }: { readonly value: number; readonly max: number; readonly className: string }) {
  return (
    <svg width={BAR_WIDTH} height={BAR_HEIGHT} aria-hidden className="inline-block max-sm:hidden">
      <rect width={BAR_WIDTH} height={BAR_HEIGHT} rx={2} className="fill-sunken" />
      <rect width={max === 0 ? 0 : (value / max) * BAR_WIDTH} height={BAR_HEIGHT} rx={2} className={className} />
    </svg>
  );
}

/** The days of a period, the latest first. */
export function UsageDays({ days }: { readonly days: readonly UsageDay[] }) {
  const most = (of: (day: UsageDay) => number): number => Math.max(0, ...days.map(of));
  const [mostIn, mostOut] = [most((day) => day.messagesIn), most((day) => day.messagesOut)];
  return (
    // Scrolls, so the keyboard must reach it.
    <div
      role="region"
      aria-label="Usage by day"
      tabIndex={0}
      className="max-h-[70vh] min-w-0 overflow-auto rounded-lg border border-line bg-panel"
    >
      <table className="w-full border-collapse text-right tabular-nums [&_td]:px-4 [&_td]:py-1.5 [&_th]:px-4 [&_th]:py-2 [&_th]:font-medium [&_th]:text-muted max-sm:[&_td]:px-2 max-sm:[&_th]:px-2">
        <thead className="sticky top-0 bg-panel">
          <tr className="border-b border-line">
            <th className="text-left">Day (UTC)</th>
            <th>Received</th>
            <th>Sent</th>
            <th className="max-sm:hidden">Bytes</th>
            <th>Webhooks</th>
            <th className="max-sm:hidden">Given up</th>
            <th className="max-sm:hidden">Mailboxes</th>
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((day) => {
            const { pending, success, failed, exhausted } = day.deliveries;
            return (
              <tr key={day.date} className="border-t border-line first:border-t-0">
                <td className="text-left whitespace-nowrap">{day.date}</td>
                <td className="whitespace-nowrap">
                  {day.messagesIn.toLocaleString()} <Bar value={day.messagesIn} max={mostIn} className="fill-info" />
                </td>
                <td className="whitespace-nowrap">
                  {day.messagesOut.toLocaleString()} <Bar value={day.messagesOut} max={mostOut} className="fill-ok" />
                </td>
                <td className="whitespace-nowrap max-sm:hidden">{byteSize(day.messageBytes)}</td>
                <td>{(pending + success + failed + exhausted).toLocaleString()}</td>
                <td className={`max-sm:hidden ${exhausted > 0 ? 'font-medium text-stop' : ''}`}>
                  {exhausted.toLocaleString()}
                </td>
                <td className="max-sm:hidden">{day.mailboxes.toLocaleString()}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
