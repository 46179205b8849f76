import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from '../../components/frame/button.tsx';
import { NotLoaded, PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { Timeline, type TimelineEntry } from '../../components/lists/timeline.tsx';
import { Copy } from '../../components/shown/copy.tsx';
import { Countdown } from '../../components/shown/countdown.tsx';
import { ExternalLink, type Fact, Facts } from '../../components/shown/facts.tsx';
import { Snippet } from '../../components/shown/snippet.tsx';
import { Time } from '../../components/shown/time.tsx';
import { type Attempt, type DeliveryWithAttempts, deliveryQuery, useResend, webhookQuery } from './queries.ts';
import { DeliveryStatus, REASONS, ScopeOf } from './states.tsx';

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
        <NotLoaded title="Delivery" query={delivery} />
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

const ERRORS: Readonly<Record<NonNullable<Attempt['error']>, string>> = {
  timeout: 'no answer within 15 s',
  dns_failed: 'the name did not resolve',
  connect_refused: 'the connection was refused',
  connect_failed: 'no connection',
  tls_failed: 'TLS failed',
  reset: 'the connection was reset',
  http_status: 'refused',
  unsafe_destination: 'the address was not publicly routable',
  response_too_large: 'the answer was too large',
  aborted: 'broken off',
};

/** @param url undefined while it is not known. @param expected an attempt was asked for and has not been seen yet */
function deliveryEntries(delivery: DeliveryWithAttempts, url: string | undefined, expected: boolean): TimelineEntry[] {
  const { payload, createdAt, eventType, attempts, status, reason, nextAttemptAt, completedAt, lastError } = delivery;
  const occurredAt = payload['occurredAt'];
  const host = url === undefined ? 'the endpoint' : new URL(url).host;
  const entries: TimelineEntry[] = [
    {
      key: 'event',
      at: typeof occurredAt === 'string' ? occurredAt : createdAt,
      meaning: 'info',
      title: (
        <>
          Event <code className="font-mono text-[13px]">{eventType}</code> recorded
        </>
      ),
      children: (
        <Disclosure title="Payload">
          <Snippet what="Payload" text={JSON.stringify(payload, null, 2)} />
        </Disclosure>
      ),
    },
    ...attempts.map((attempt) => attemptEntry(attempt, host, delivery.maxAttempts)),
  ];
  if (status === 'exhausted' && reason !== null)
    entries.push({
      key: 'exhausted',
      at: completedAt ?? undefined,
      meaning: 'stop',
      title: `Given up: ${REASONS[reason]}`,
      ...(lastError === null ? {} : { children: <p className="text-muted">{lastError}</p> }),
    });
  const isOpen = status === 'pending' || status === 'failed';
  if (expected || isOpen)
    entries.push({
      key: 'next',
      at: undefined,
      meaning: 'wait',
      title:
        !expected && nextAttemptAt !== null ? (
          <>
            Next attempt <Countdown value={nextAttemptAt} />
          </>
        ) : (
          'Attempt at any moment'
        ),
    });
  return entries.toSorted(byTime);
}

/** Future entries come last. */
const byTime = (a: TimelineEntry, b: TimelineEntry): number =>
  (a.at === undefined ? Number.POSITIVE_INFINITY : Date.parse(a.at)) -
  (b.at === undefined ? Number.POSITIVE_INFINITY : Date.parse(b.at));

function attemptEntry(attempt: Attempt, host: string, maxAttempts: number): TimelineEntry {
  const { number, trigger, startedAt, durationMs, responseCode, error, responseHeaders, responseBody } = attempt;
  const headers = Object.entries(responseHeaders ?? {});
  return {
    key: `attempt ${number}`,
    at: startedAt,
    meaning: error === null ? 'ok' : 'stop',
    title: (
      <>
        → {host} <span className="font-medium">{responseCode ?? (error === null ? '' : ERRORS[error])}</span> in{' '}
        {durationMs.toLocaleString()} ms
      </>
    ),
    aside: (
      <span className="text-muted">
        {trigger === 'manual' ? `attempt ${number}, by hand` : `attempt ${number} of ${maxAttempts}`}
      </span>
    ),
    children:
      headers.length === 0 && responseBody === null ? null : (
        <Disclosure title="Response">
          <div className="grid gap-2">
            {headers.length === 0 ? null : (
              <Snippet
                what={`Response headers of attempt ${number}`}
                text={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
              />
            )}
            {responseBody === null || responseBody === '' ? (
              <p className="text-muted">The body was empty.</p>
            ) : (
              <Snippet what={`Response body of attempt ${number}`} text={responseBody} />
            )}
          </div>
        </Disclosure>
      ),
  };
}

/** Something long that is read on demand. */
function Disclosure({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <details className="min-w-0">
      <summary className="w-fit cursor-default rounded-md py-0.5 text-accent max-sm:py-2.5">{title}</summary>
      <div className="pt-1">{children}</div>
    </details>
  );
}
