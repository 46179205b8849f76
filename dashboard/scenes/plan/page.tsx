import { useQuery } from '@tanstack/react-query';
import { organizationQuery } from '../../api/queries.ts';
import { Segments } from '../../components/forms/segments.tsx';
import { PageHead, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { Section } from '../../components/frame/section.tsx';
import { byteSize } from '../../components/shown/byte-size.ts';
import { type Usage, type UsageDay, usageQuery } from './queries.ts';

const DAYS = ['7', '30', '90'] as const;
export type Days = (typeof DAYS)[number];

/** What the plan allows and what of it is used, now and by day. */
export function PlanPage({ days, onDays }: { readonly days: Days; readonly onDays: (days: Days) => void }) {
  const organization = useQuery(organizationQuery);
  const usage = useQuery(usageQuery(Number(days)));
  const problem = organization.error ?? usage.error;
  const retry = (): void => {
    void organization.refetch();
    void usage.refetch();
  };
  return (
    <>
      <PageHead
        title="Plan and usage"
        note={organization.data === undefined ? undefined : `Plan ${organization.data.plan}`}
      />
      {problem === null ? null : <ProblemNote error={problem} onRetry={retry} />}
      {organization.isPending || usage.isPending ? <Skeleton rows={6} /> : null}
      {organization.data === undefined || usage.data === undefined ? null : (
        <div className="grid gap-8">
          <Limits limits={organization.data.limits} usage={usage.data} />
          <Section
            title="By day"
            aside={
              <Segments
                label="Days"
                value={days}
                options={DAYS.map((each) => [each, `${each} days`] as const)}
                onChange={onDays}
              />
            }
            className="grid min-w-0 gap-3"
          >
            <UsageDays days={usage.data.days} />
          </Section>
        </div>
      )}
    </>
  );
}

interface Limits {
  readonly webhookEndpoints: number | null;
  readonly domains: number | null;
  readonly quotaBytesPerMailbox: number;
  readonly aliasesPerMailbox: number;
  readonly apiRequestsPerMinute: number | null;
}

const upTo = (limit: number | null, none: string): string =>
  limit === null ? 'no limit' : limit === 0 ? none : `up to ${limit.toLocaleString()}`;

function Limits({ limits, usage }: { readonly limits: Limits; readonly usage: Usage }) {
  const { mailboxes, mailboxLimit, messages, storageBytes } = usage.current;
  const facts = [
    [
      'Mailboxes',
      mailboxLimit === null
        ? `${mailboxes.toLocaleString()}, no limit`
        : `${mailboxes.toLocaleString()} of ${mailboxLimit.toLocaleString()}`,
    ],
    ['Messages', messages.toLocaleString()],
    ['Storage', byteSize(storageBytes)],
    ['Storage per mailbox', `up to ${byteSize(limits.quotaBytesPerMailbox)}`],
    ['Aliases per mailbox', upTo(limits.aliasesPerMailbox, 'not in this plan')],
    ['Webhook endpoints', upTo(limits.webhookEndpoints, 'not in this plan')],
    ['Custom domains', upTo(limits.domains, 'not in this plan')],
    ['API requests a minute', upTo(limits.apiRequestsPerMinute, 'none')],
  ] as const;
  return (
    <div className="grid gap-3">
      <dl className="grid gap-x-6 gap-y-4 rounded-lg border border-line bg-panel p-4 sm:grid-cols-4">
        {facts.map(([title, value]) => (
          <div key={title}>
            <dt className="text-xs text-muted">{title}</dt>
            <dd className="mt-0.5 grid text-base font-medium">
              {value}
              {title === 'Mailboxes' && mailboxLimit !== null ? (
                <meter
                  aria-label="Mailboxes used"
                  min={0}
                  max={mailboxLimit}
                  high={mailboxLimit * 0.9}
                  optimum={0}
                  value={mailboxes}
                  className="h-1.5 w-full max-w-40"
                />
              ) : null}
            </dd>
          </div>
        ))}
      </dl>
      <p className="text-muted">The operator of this service can move the organization to another plan.</p>
    </div>
  );
}

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
function UsageDays({ days }: { readonly days: readonly UsageDay[] }) {
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
