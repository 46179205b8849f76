import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { PageHead } from '../../../components/frame/page-head.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { Timeline } from '../../../components/lists/timeline.tsx';
import { Copy } from '../../../components/shown/copy.tsx';
import { ExternalLink } from '../../../components/shown/external-link.tsx';
import { type Fact, Facts } from '../../../components/shown/facts.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { type DeliveryWithAttempts, deliveryQuery, useResend, webhookQuery } from '../queries.ts';
import { ScopeOf } from '../scope-of.tsx';
import { DeliveryStatus } from '../states.tsx';
import { deliveryEntries } from './delivery-entries.tsx';

/** The whole life of a delivery as one timeline. */
export function DeliveryPage({ id, did }: { readonly id: string; readonly did: string }) {
  /** Attempts there were when one more was asked for; undefined: none is expected. */
  const [attemptsBefore, setAttemptsBefore] = useState<number>();
  const delivery = useQuery(deliveryQuery(id, did));
  const webhook = useQuery(webhookQuery(id));
  const resend = useResend(id, did);
  const attempts = delivery.data?.attempts.length;
  useEffect(() => {
    if (attemptsBefore !== undefined && attempts !== undefined && attempts > attemptsBefore)
      setAttemptsBefore(undefined);
  }, [attempts, attemptsBefore]);
  const back = (
    <p className="mb-1">
      <Link to="/webhooks">Webhooks</Link>
      {' / '}
      <Link to="/webhooks/$id" params={{ id }}>
        {webhook.data === undefined ? 'Webhook' : new URL(webhook.data.url).host}
      </Link>
    </p>
  );
  if (delivery.data === undefined)
    return (
      <>
        {back}
        <PageHead title="Delivery" />
        {delivery.isError ? <ProblemNote error={delivery.error} onRetry={() => void delivery.refetch()} /> : null}
      </>
    );
  const { data } = delivery;
  const isOpen = data.status === 'pending' || data.status === 'failed';
  return (
    <>
      {back}
      <PageHead title={data.eventType} note={<DeliveryStatus status={data.status} />}>
        <Link to="/activity" search={{ q: did }}>
          All that happened around it
        </Link>
        {data.status === 'pending' ? null : (
          <Button
            look="primary"
            busy={resend.isPending || attemptsBefore !== undefined}
            disabled={webhook.data?.active === false}
            onClick={() => resend.mutate(undefined, { onSuccess: () => setAttemptsBefore(data.attempts.length) })}
          >
            {isOpen ? 'Attempt now' : 'Resend'}
          </Button>
        )}
      </PageHead>
      {webhook.data?.active === false ? (
        <p className="mb-4 rounded-lg border border-stop/40 bg-stop-soft px-4 py-3">
          Its endpoint is inactive, so nothing is sent.{' '}
          <Link to="/webhooks/$id" params={{ id }} className="underline">
            Why, and how to go on
          </Link>
        </p>
      ) : null}
      {resend.isError ? (
        <div className="mb-4">
          <ProblemNote error={resend.error} />
        </div>
      ) : null}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-8 lg:grid-cols-[minmax(0,1fr)_232px]">
        <Timeline
          label="Life of the delivery"
          entries={deliveryEntries(data, webhook.data?.url, attemptsBefore !== undefined)}
        />
        <Facts facts={factsOf(data)} />
      </div>
    </>
  );
}

const withCopy = (text: string, what: string) => (
  <span className="grid justify-items-start">
    <code className="font-mono text-[13px] break-all">{text}</code>
    <span className="-ml-3">
      <Copy text={text} what={what} />
    </span>
  </span>
);

const factsOf = (delivery: DeliveryWithAttempts): Fact[] => [
  ['webhook-id', withCopy(delivery.id, 'webhook-id')],
  ['Event', withCopy(delivery.eventId, 'event id')],
  ['Mailbox', delivery.mailboxId === null ? 'none' : <ScopeOf key="mailbox" mailboxId={delivery.mailboxId} />],
  ['Attempts', `${delivery.attemptCount} of ${Math.max(delivery.maxAttempts, delivery.attemptCount)}`],
  ['Created', <Time key="created" value={delivery.createdAt} />],
  [
    'Workflow',
    delivery.temporalUrl === undefined ? (
      (delivery.workflowId ?? 'none yet')
    ) : (
      <ExternalLink key="workflow" href={delivery.temporalUrl}>
        Open in Temporal
      </ExternalLink>
    ),
  ],
];
