import { useQuery } from '@tanstack/react-query';
import { mailboxNameQuery } from '../../api/queries.ts';
import { Badge, type Meaning, StateBadge } from '../../components/shown/badge.tsx';
import type { Delivery, Webhook } from './queries.ts';

/** Whether an endpoint gets anything, in one or two words. */
export function WebhookState({ webhook }: { readonly webhook: Webhook }) {
  if (webhook.disabledReason === 'suspended') return <Badge meaning="stop">Suspended</Badge>;
  if (!webhook.active) return <Badge meaning={webhook.disabledReason === null ? 'none' : 'stop'}>Inactive</Badge>;
  return webhook.failingSince === null ? <Badge meaning="ok">Active</Badge> : <Badge meaning="wait">Failing</Badge>;
}

export const STATUSES: readonly Delivery['status'][] = ['success', 'failed', 'pending', 'exhausted'];

/** Words of the API in sentence case, and what each means. */
export const STATUS_MEANINGS: Readonly<Record<Delivery['status'], readonly [Meaning, string, string]>> = {
  success: ['ok', 'Success', 'acknowledged'],
  failed: ['wait', 'Failed', 'retrying'],
  pending: ['info', 'Pending', 'pending'],
  exhausted: ['stop', 'Exhausted', 'given up'],
};

export const DeliveryStatus = ({ status }: { readonly status: Delivery['status'] }) => (
  <StateBadge of={STATUS_MEANINGS[status]} />
);

/** Why a delivery was given up. */
export const REASONS: Readonly<Record<NonNullable<Delivery['reason']>, string>> = {
  attempts_exhausted: 'all attempts failed',
  endpoint_inactive: 'the endpoint was set inactive',
  endpoint_deleted: 'the endpoint was deleted',
  endpoint_gone: 'the endpoint answered 410 Gone',
  plan_downgraded: 'the plan no longer has webhooks',
  unsafe_destination: 'the address was not publicly routable',
  mailbox_deleted: 'the mailbox was deleted',
  organization_suspended: 'the organization was suspended',
};

/** What an endpoint is about: the organization, or a mailbox by its address. */
export function ScopeOf({ mailboxId }: { readonly mailboxId: string | null }) {
  const mailbox = useQuery({ ...mailboxNameQuery(mailboxId ?? ''), enabled: mailboxId !== null });
  if (mailboxId === null) return <>whole organization</>;
  return <>{mailbox.data?.address ?? 'one mailbox'}</>;
}
