import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { PageHead } from '../../../components/frame/page-head.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { Copy } from '../../../components/shown/copy.tsx';
import { type Fact, Facts } from '../../../components/shown/facts.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { type DeliveryFilters, type Webhook, webhookQuery } from '../queries.ts';
import { ScopeOf } from '../scope-of.tsx';
import { WebhookState } from '../states.tsx';
import { Deliveries } from './deliveries.tsx';
import { LastDay } from './last-day.tsx';
import { PublicKeys } from './public-keys.tsx';
import { RecoverDialog } from './recover-dialog.tsx';
import { RecoveryCard } from './recovery-card.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookNotes } from './webhook-notes.tsx';

export interface WebhookPageProps {
  readonly id: string;
  readonly filters: DeliveryFilters;
  readonly onFilters: (filters: DeliveryFilters) => void;
}

/** An endpoint: whether it works, what it got, and what can be done about it. */
export function WebhookPage({ id, filters, onFilters }: WebhookPageProps) {
  const webhook = useQuery(webhookQuery(id));
  /** The time from which deliveries are sent again; undefined: not requested. */
  const [recoverSince, setRecoverSince] = useState<string>();
  if (webhook.data === undefined)
    return (
      <>
        <PageHead title="Webhook" />
        {webhook.isError ? <ProblemNote error={webhook.error} onRetry={() => void webhook.refetch()} /> : null}
      </>
    );
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
