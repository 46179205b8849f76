/**
 * States of a webhook delivery (interface §3).
 *
 *   pending ──2xx──▶ success
 *      │ └─failed attempt, one left──▶ failed ──2xx──▶ success
 *      │                                 │ └─failed attempt, one left──▶ failed
 *      └──────── stopped, unsafe ────────┴── fifth failure, stopped, unsafe ──▶ exhausted
 *
 * `success` and `exhausted` are final; only a manual resend (`manual` attempt) may turn `exhausted` into `success`.
 */
export const DELIVERY_STATUSES = ['pending', 'success', 'failed', 'exhausted'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why a delivery was given up. */
export const EXHAUSTED_REASONS = [
  'attempts_exhausted',
  'endpoint_inactive',
  'endpoint_deleted',
  'endpoint_gone',
  'plan_downgraded',
  'unsafe_destination',
  'mailbox_deleted',
  'organization_suspended',
] as const;
export type ExhaustedReason = (typeof EXHAUSTED_REASONS)[number];

/** Allowed changes of status by the automatic ladder. */
export const DELIVERY_TRANSITIONS: Readonly<Record<DeliveryStatus, readonly DeliveryStatus[]>> = {
  pending: ['success', 'failed', 'exhausted'],
  failed: ['success', 'failed', 'exhausted'],
  success: [],
  exhausted: [],
};

/** Why an attempt was made: by the ladder, or because a person asked for it. */
export const ATTEMPT_TRIGGERS = ['automatic', 'manual'] as const;
export type AttemptTrigger = (typeof ATTEMPT_TRIGGERS)[number];

/** Errors of an attempt; the closed list of `attempts[].error`. */
export const ATTEMPT_ERRORS = [
  'timeout',
  'dns_failed',
  'connect_refused',
  'connect_failed',
  'tls_failed',
  'reset',
  'http_status',
  'unsafe_destination',
  'response_too_large',
  'aborted',
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** Why an endpoint was set inactive by the service; null when its owner did it. */
export const DISABLED_REASONS = ['gone', 'failing', 'suspended'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/**
 * Search attributes of all workflows, by which a person finds in the Temporal UI the workflow of a webhook-id, an
 * endpoint, an organization or an event. They contain ids only, never content.
 */
export const SEARCH_ATTRIBUTES = {
  OrganizationId: 'Keyword',
  EndpointId: 'Keyword',
  MailboxId: 'Keyword',
  EventType: 'Keyword',
  DeliveryIds: 'KeywordList',
  EventIds: 'KeywordList',
  MessageId: 'Keyword',
} as const;

/** The engine limits a value to 2 KB: so many ids of 30 characters fit into a list. */
export const SEARCH_ATTRIBUTE_IDS_MAX = 50;

/** The data in the summary of a workflow. */
export interface DescribedDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly eventType: string;
}

const counted = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;

/** The one value that all share, if they do. */
function shared<Value>(
  deliveries: readonly DescribedDelivery[],
  of: (delivery: DescribedDelivery) => Value,
): Value | undefined {
  const [first] = deliveries;
  if (first === undefined) return undefined;
  const value = of(first);
  return deliveries.every((delivery) => of(delivery) === value) ? value : undefined;
}

/** E.g. `email_received to 3 endpoints`, `12 events to 1 endpoint`. */
export function fanOutSummary(deliveries: readonly DescribedDelivery[]): string {
  const type = shared(deliveries, ({ eventType }) => eventType);
  const endpoints = new Set(deliveries.map(({ endpointId }) => endpointId)).size;
  const events = new Set(deliveries.map(({ eventId }) => eventId)).size;
  const what = events === 1 && type !== undefined ? type : counted(events, type ?? 'event', `${type ?? 'event'}s`);
  return `${what} to ${counted(endpoints, 'endpoint', 'endpoints')}`;
}

/** E.g. `retries of 3 deliveries to whe_…`. */
export const retrySummary = (endpointId: string, deliveries: number): string =>
  `retries of ${counted(deliveries, 'delivery', 'deliveries')} to ${endpointId}`;

/** Values of the search attributes; values that differ between deliveries are omitted, lists are cut. */
interface DescribedValues {
  readonly organizationId?: string | undefined;
  readonly endpointId?: string | undefined;
  readonly mailboxId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly deliveryIds: readonly string[];
  readonly eventIds: readonly string[];
}

export const describedValues = (deliveries: readonly DescribedDelivery[]): DescribedValues => ({
  organizationId: shared(deliveries, ({ organizationId }) => organizationId),
  endpointId: shared(deliveries, ({ endpointId }) => endpointId),
  mailboxId: shared(deliveries, ({ mailboxId }) => mailboxId) ?? undefined,
  eventType: shared(deliveries, ({ eventType }) => eventType),
  deliveryIds: deliveries.slice(0, SEARCH_ATTRIBUTE_IDS_MAX).map(({ id }) => id),
  eventIds: [...new Set(deliveries.map(({ eventId }) => eventId))].slice(0, SEARCH_ATTRIBUTE_IDS_MAX),
});
