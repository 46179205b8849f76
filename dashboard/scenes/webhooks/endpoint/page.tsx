import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { Failure, NotLoaded, PageHead, ProblemNote } from '../../../components/frame/page.tsx';
import { Copy } from '../../../components/shown/copy.tsx';
import { type Fact, Facts } from '../../../components/shown/facts.tsx';
import { Time } from '../../../components/shown/time.tsx';
import {
  type DeliveryFilters,
  signingKeysQuery,
  statsQuery,
  useChangeWebhook,
  type Webhook,
  webhookQuery,
} from '../queries.ts';
import { ScopeOf, STATUS_MEANINGS, STATUSES, WebhookState } from '../states.tsx';
import { WebhookActions } from './actions.tsx';
import { Deliveries, deliveryFilters } from './deliveries.tsx';
import { RecoverDialog, RecoveryCard } from './recovery.tsx';

interface WebhookPageProps {
  readonly id: string;
  /** Texts of the address of the page. */
  readonly search: Readonly<Record<string, unknown>>;
  readonly onFilters: (filters: DeliveryFilters) => void;
}

/** An endpoint: whether it works, what it got, and what can be done about it. */
export function WebhookPage({ id, search, onFilters }: WebhookPageProps) {
  const filters = deliveryFilters(search);
  const webhook = useQuery(webhookQuery(id));
  /** The time from which deliveries are sent again; undefined: not requested. */
  const [recoverSince, setRecoverSince] = useState<string>();
  if (webhook.data === undefined) return <NotLoaded title="Webhook" query={webhook} />;
  const { data } = webhook;
  return (
    <>
      <p className="mb-1">
        <Link to="/webhooks">Webhooks</Link>
      </p>
      <PageHead title={new URL(data.url).host} note={<WebhookState webhook={data} />}>
        <WebhookActions webhook={data} onRecover={setRecoverSince} />
      </PageHead>
      <div className="mb-6 grid gap-3 empty:hidden">
        <WebhookNotes webhook={data} onRecover={setRecoverSince} />
        <RecoveryCard webhookId={id} />
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-8 lg:grid-cols-[minmax(0,1fr)_232px]">
        <div className="grid min-w-0 gap-6">
          <LastDay id={id} onHour={(since, until) => onFilters({ since, until })} />
          <Deliveries id={id} filters={filters} onFilters={onFilters} />
        </div>
        <Facts facts={factsOf(data)} />
      </div>
      {recoverSince === undefined ? null : (
        <RecoverDialog id={id} since={recoverSince} onClose={() => setRecoverSince(undefined)} />
      )}
    </>
  );
}

const factsOf = (webhook: Webhook): Fact[] => [
  [
    'URL',
    <span key="url" className="grid justify-items-start">
      <span className="break-all">{webhook.url}</span>
      <span className="-ml-3">
        <Copy text={webhook.url} what="URL" />
      </span>
    </span>,
  ],
  ...(webhook.description === null || webhook.description === ''
    ? []
    : [['Description', webhook.description] satisfies Fact]),
  ['About', <ScopeOf key="scope" mailboxId={webhook.mailboxId} />],
  [
    'Events',
    <ul key="events">
      {webhook.eventTypes.map((type) => (
        <li key={type} className="font-mono text-[13px] break-all">
          {type}
        </li>
      ))}
    </ul>,
  ],
  ['Header', webhook.authHeaderName ?? 'none'],
  [
    'Secret',
    <code key="secret" className="font-mono text-[13px]">
      {webhook.secretPrefix}…
    </code>,
  ],
  ['Signatures', webhook.publicKeySignature ? 'v1 and v1a' : 'v1'],
  ...(webhook.publicKeySignature ? [['Public key', <PublicKeys key="keys" />] satisfies Fact] : []),
  ['Codes and links', webhook.includeExtracts ? 'sent with received mail' : 'not sent'],
  ['Last success', webhook.lastSuccessAt === null ? 'none yet' : <Time key="success" value={webhook.lastSuccessAt} />],
  [
    'Oldest waiting',
    webhook.oldestWaitingAt === null ? 'nothing waits' : <Time key="waiting" value={webhook.oldestWaitingAt} />,
  ],
  ['Created', <Time key="created" value={webhook.createdAt} />],
  [
    'Id',
    <code key="id" className="font-mono text-[13px] break-all">
      {webhook.id}
    </code>,
  ],
];

/** The keys by which a receiver verifies `v1a` signatures. */
function PublicKeys() {
  const keys = useQuery(signingKeysQuery);
  if (keys.isError) return <Failure query={keys} />;
  if (keys.data === undefined) return null;
  return (
    <span className="grid justify-items-start gap-1">
      {keys.data.keys.map(({ id, publicKey, expiresAt }) => (
        <span key={id} className="grid justify-items-start">
          <code className="font-mono text-[13px] break-all">{publicKey}</code>
          {expiresAt === null ? null : (
            <span className="text-muted">
              ends <Time value={expiresAt} />
            </span>
          )}
          <span className="-ml-3">
            <Copy text={publicKey} what="public key" />
          </span>
        </span>
      ))}
      <a href={keys.data.keySetUrl} target="_blank" rel="noreferrer">
        Key set (JWKS)
      </a>
    </span>
  );
}

interface WebhookNotesProps {
  readonly webhook: Webhook;
  /** Asks whether what was given up since then is to be sent again. */
  readonly onRecover: (since: string) => void;
}

/** What somebody has to know before anything else: why nothing is sent, what fails, which secret still signs. */
function WebhookNotes({ webhook, onRecover }: WebhookNotesProps) {
  return (
    <>
      {webhook.active ? null : <Inactive webhook={webhook} onRecover={onRecover} />}
      {webhook.active && webhook.failingSince !== null ? (
        <Note tone="wait" title="It acknowledges nothing">
          <p>
            Every delivery has failed for some time, since <Time value={webhook.failingSince} />. Each is tried five
            times within an hour. After five days the endpoint is set inactive, and its owners are notified.
          </p>
        </Note>
      ) : null}
      {webhook.previousSecretExpiresAt === null ? null : (
        <Note tone="info" title="Two secrets sign">
          <p>
            The secret before this one ends <Time value={webhook.previousSecretExpiresAt} />. Until then move your
            server to the new one, which begins with{' '}
            <code className="font-mono text-[13px]">{webhook.secretPrefix}</code>.
          </p>
        </Note>
      )}
    </>
  );
}

const WHY = {
  gone: 'All attempts of a delivery were answered with 410 Gone, so the service set it inactive.',
  failing: 'It acknowledged nothing for five days, so the service set it inactive.',
  suspended: 'The operator of this service suspended it. Ask the operator to lift the suspension.',
} as const;

function Inactive({ webhook, onRecover }: WebhookNotesProps) {
  const change = useChangeWebhook(webhook.id);
  const { disabledReason } = webhook;
  // A promise, not a callback of the mutation: this note is gone as soon as the endpoint is active.
  const resume = () =>
    change.mutateAsync({ active: true }).then(
      ({ recover }) => {
        if (recover !== undefined && recover.deliveries > 0) onRecover(recover.since);
      },
      () => {
        // Shown as the error of the change.
      },
    );
  return (
    <Note tone="stop" title={disabledReason === 'suspended' ? 'Suspended' : 'Inactive: nothing is sent'}>
      <p>
        {disabledReason === null ? 'Somebody set it inactive.' : WHY[disabledReason]} Events that happen meanwhile are
        not recorded for it.
      </p>
      <ProblemNote error={change.error} />
      {disabledReason === 'suspended' ? null : (
        <>
          <p>
            {disabledReason === null
              ? ''
              : 'Make sure that the address answers with a status from 200 to 299 again, or change it. '}
            What was given up before can then be sent again.
          </p>
          <Button look="primary" className="justify-self-start" busy={change.isPending} onClick={() => void resume()}>
            Set active
          </Button>
        </>
      )}
    </Note>
  );
}

const TONES = {
  stop: 'border-stop/40 bg-stop-soft',
  wait: 'border-wait/40 bg-wait-soft',
  info: 'border-info/40 bg-info-soft',
} as const;

interface NoteProps {
  readonly tone: keyof typeof TONES;
  readonly title: string;
  readonly children: ReactNode;
}

function Note({ tone, title, children }: NoteProps) {
  return (
    <section aria-label={title} className={`grid gap-2 rounded-lg border px-4 py-3 ${TONES[tone]}`}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const Chart = lazy(() => import('./chart.tsx'));

const DOTS = { success: 'bg-ok', failed: 'bg-wait', pending: 'bg-info', exhausted: 'bg-stop' } as const;
const HOUR_MS = 3_600_000;

interface LastDayProps {
  readonly id: string;
  /** Narrows the list of deliveries to an hour. */
  readonly onHour: (since: string, until: string) => void;
}

/** The last 24 hours by outcome: the sums, the hours as a chart, and as a table for screen readers. */
function LastDay({ id, onHour }: LastDayProps) {
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
