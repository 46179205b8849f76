import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { Empty } from '../../../components/frame/empty.tsx';
import { PageHead } from '../../../components/frame/page-head.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { SteadyList } from '../../../components/lists/steady-list.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { organizationQuery, type Webhook, webhooksQuery } from '../queries.ts';
import { ScopeOf } from '../scope-of.tsx';
import { WebhookState } from '../states.tsx';
import { CreateWebhook } from './create-webhook.tsx';
import { OutcomeBar } from './outcome-bar.tsx';

const COLUMNS = 'sm:grid-cols-[minmax(0,2.2fr)_110px_minmax(0,1.5fr)_150px]';

/** @param mailbox id of the mailbox whose own endpoints are listed; empty: all endpoints */
export function WebhooksPage({ mailbox }: { readonly mailbox: string }) {
  const [adding, setAdding] = useState(false);
  const organization = useQuery(organizationQuery);
  const list = useInfiniteQuery(webhooksQuery(mailbox));
  const webhooks = list.data?.pages.flatMap(({ data }) => data) ?? [];
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
      {list.isError ? <ProblemNote error={list.error} onRetry={() => void list.refetch()} /> : null}
      {organization.data !== undefined && !hasWebhooks ? <NoPlan plan={organization.data.plan} /> : null}
      <SteadyList
        key={mailbox}
        label="Webhooks"
        answer={list.data}
        rows={webhooks}
        pages={list.data?.pages.length ?? 0}
        hasMore={list.hasNextPage}
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
      </SteadyList>
      {list.hasNextPage ? (
        <Button className="mt-3" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      ) : null}
      <CreateWebhook open={adding} onClose={() => setAdding(false)} />
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
