/** The description of a workflow in the Temporal UI: searchable ids, and sentences. */
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import type { OutboundProgress } from '#domain/sending/outbound-workflow.ts';
import { SEARCH_ATTRIBUTE_IDS_MAX } from '#domain/webhooks/delivery-status.ts';
import type { WaitingDelivery, WaitingEndpoint } from '#domain/webhooks/delivery-workflows.ts';
import type { RecoveryProgress } from '#domain/webhooks/recovery.ts';

const organizationId = defineSearchAttributeKey('OrganizationId', SearchAttributeType.KEYWORD);
const endpointId = defineSearchAttributeKey('EndpointId', SearchAttributeType.KEYWORD);
const mailboxId = defineSearchAttributeKey('MailboxId', SearchAttributeType.KEYWORD);
const deliveryIds = defineSearchAttributeKey('DeliveryIds', SearchAttributeType.KEYWORD_LIST);

export function endpointSearchAttributes(endpoint: WaitingEndpoint): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: organizationId, value: endpoint.organizationId },
    { key: endpointId, value: endpoint.endpointId },
    ...(endpoint.mailboxId === null ? [] : [{ key: mailboxId, value: endpoint.mailboxId }]),
    { key: deliveryIds, value: endpoint.deliveries.slice(0, SEARCH_ATTRIBUTE_IDS_MAX).map(({ id }) => id) },
  ]);
}

const deliveriesText = (count: number): string => (count === 1 ? '1 delivery' : `${count} deliveries`);

export const waitSummary = (due: readonly WaitingDelivery[], delayMs: number): string =>
  `wait ${durationText(delayMs)}, then attempt ${deliveriesText(due.length)}`;

export const attemptSummary = (ids: readonly string[]): string =>
  ids.length === 1 ? `attempt of ${ids[0]}` : `attempts of ${ids.length} deliveries`;

export const recoverySummary = (before: RecoveryProgress | undefined): string =>
  before === undefined ? 'send given-up deliveries again' : `go on after ${before.done} of ${before.total}`;

/** E.g. `retry 3 for example.org in 15 min: 451 greylisted`. */
export function outboundRetrySummary({ waitsFor, retry }: OutboundProgress, waitMs: number): string {
  const time = durationText(waitMs);
  if (retry === undefined) return `retry for ${waitsFor} in ${time}`;
  const { number, domain, reply } = retry;
  return `${number === 0 ? 'try' : `retry ${number} for`} ${domain} in ${time}${reply === '' ? '' : `: ${reply}`}`;
}

export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 1) return `${Math.max(0, Math.round(ms))} ms`;
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
