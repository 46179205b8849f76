import { useQuery } from '@tanstack/react-query';
import { Segments } from '../../components/forms/segments.tsx';
import { PageHead } from '../../components/frame/page-head.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Skeleton } from '../../components/frame/skeleton.tsx';
import { byteSize } from '../../components/shown/byte-size.ts';
import { organizationQuery, type Usage, usageQuery } from './queries.ts';
import { UsageDays } from './usage-days.tsx';

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
          <section aria-labelledby="by-day" className="grid min-w-0 gap-3">
            <div className="flex flex-wrap items-center gap-3">
              <h2 id="by-day" className="flex-1">
                By day
              </h2>
              <Segments
                label="Days"
                value={days}
                options={DAYS.map((each) => [each, `${each} days`] as const)}
                onChange={onDays}
              />
            </div>
            <UsageDays days={usage.data.days} />
          </section>
        </div>
      )}
    </>
  );
}

interface Limits {
  readonly webhookEndpoints: number | null;
  readonly domains: number | null;
  readonly quotaBytesPerMailbox: number;
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
