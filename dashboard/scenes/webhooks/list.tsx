import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { organizationQuery } from '../../api/queries.ts';
import { Button } from '../../components/frame/button.tsx';
import { Empty, PageHead } from '../../components/frame/page.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { Time } from '../../components/shown/time.tsx';
import { CreateWebhook } from './create-webhook.tsx';
import { type StatusCounts, type Webhook, webhooksQuery } from './queries.ts';
import { ScopeOf, STATUS_MEANINGS, STATUSES, WebhookState } from './states.tsx';

const COLUMNS = 'sm:grid-cols-[minmax(0,2.2fr)_110px_minmax(0,1.5fr)_150px]';

/** @param mailbox id of the mailbox whose own endpoints are listed; empty: all endpoints */
export function WebhooksPage({ mailbox }: { readonly mailbox: string }) {
  const [adding, setAdding] = useState(false);
  const organization = useQuery({ ...organizationQuery, staleTime: 60_000 });
  const list = useInfiniteQuery(webhooksQuery(mailbox));
  const hasWebhooks = organization.data?.limits.webhookEndpoints !== 0;
  return (
    <>
      <PageHead title="Webhooks" note={mailbox === '' ? undefined : <ScopeOf mailboxId={mailbox} />}>
        {hasWebhooks ? (
          <Button look="primary" onClick={() => setAdding(true)}>
            <Plus size={16} aria-hidden /> Add webhook
          </Button>
        ) : null}
      </PageHead>
      {organization.data !== undefined && !hasWebhooks ? <NoPlan plan={organization.data.plan} /> : null}
      <PagedList
        key={mailbox}
        label="Webhooks"
        query={list}
        skeleton={false}
        empty={
          hasWebhooks ? (
            <Empty title={mailbox === '' ? 'No webhooks yet' : 'No webhooks of this mailbox'}>
              <p>
                A webhook sends a signed notification to your server when mail arrives or leaves, when a mailbox is
                made, or when a message waits for a person. It is tried again when your server is away.
              </p>
              <Button look="primary" onClick={() => setAdding(true)}>
                Add the first webhook
              </Button>
            </Empty>
          ) : null
        }
      >
        {(webhook) => <Row webhook={webhook} />}
      </PagedList>
      {adding ? <CreateWebhook onClose={() => setAdding(false)} /> : null}
    </>
  );
}

function Row({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, description, mailboxId, stats, oldestWaitingAt } = webhook;
  const { host, pathname } = new URL(url);
  return (
    <div className={`grid items-center gap-x-5 gap-y-2 ${COLUMNS}`}>
      <div className="min-w-0">
        <Link to="/webhooks/$id" params={{ id }} className="block truncate" title={url}>
          <span className="font-medium">{host}</span>
          {pathname === '/' ? '' : pathname}
        </Link>
        <span className="block truncate text-muted">
          {description === null || description === '' ? null : `${description} · `}
          <ScopeOf mailboxId={mailboxId} />
        </span>
      </div>
      <div>
        <WebhookState webhook={webhook} />
      </div>
      <OutcomeBar counts={stats.last24h} />
      <div className="text-muted sm:text-right">
        {oldestWaitingAt === null ? (
          'nothing waits'
        ) : (
          <>
            waits since <Time value={oldestWaitingAt} />
          </>
        )}
      </div>
    </div>
  );
}

function NoPlan({ plan }: { readonly plan: string }) {
  return (
    <div className="mb-4">
      <Empty title="Your plan has no webhooks">
        <p>
          The plan {plan} does not include webhooks: none can be added, and nothing is sent. Endpoints you made before
          are kept and go on when the organization moves to a paid plan, which the operator of this service does.
        </p>
        <p>
          Until then an agent can wait for its own mail by API, CLI or MCP. See the{' '}
          <a href="/docs" className="underline">
            API reference
          </a>
          .
        </p>
      </Empty>
    </div>
  );
}

const COLOURS = { success: 'fill-ok', failed: 'fill-wait', pending: 'fill-info', exhausted: 'fill-stop' } as const;
const WIDTH = 100;
/** A single failure among thousands must still be seen. */
const SMALLEST = 3;

/** Deliveries by outcome as one bar, with the same in words. */
function OutcomeBar({ counts }: { readonly counts: StatusCounts }) {
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
