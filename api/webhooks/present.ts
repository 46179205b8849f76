import type { Static } from 'typebox';
import { temporalLink } from '#api/http/temporal-link.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { EndpointView } from '#core/webhooks/endpoints/endpoint-queries.ts';
import type { HourOfDeliveries } from '#db/queries/deliveries/delivery-counts.ts';
import type { AttemptView, DeliveryWithPayload } from '#db/queries/deliveries/list-deliveries.ts';
import type { RecoveryRow } from '#db/queries/webhooks/recoveries.ts';
import type { PublicSigningKey } from '#db/queries/webhooks/signing-keys.ts';
import { DELIVERY_STATUSES } from '#domain/webhooks/delivery-status.ts';
import { recoveryWorkflowId } from '#domain/webhooks/recovery.ts';
import type { Delivery, DeliveryWithAttempts, EndpointStats } from './delivery-schema.ts';
import type { Recovery } from './recovery-schema.ts';
import type { Endpoint } from './schema.ts';
import type { SigningKeys } from './signing-key-schema.ts';

const timeOf = (date: Date | null): string | null => date?.toISOString() ?? null;

export const presentEndpoint = (endpoint: EndpointView): Static<typeof Endpoint> => ({
  id: endpoint.id,
  url: endpoint.url,
  eventTypes: [...endpoint.eventTypes],
  mailboxId: endpoint.mailboxId,
  description: endpoint.description,
  active: endpoint.active,
  authHeaderName: endpoint.authHeaderName,
  disabledReason: endpoint.disabledReason,
  secretPrefix: endpoint.secretPrefix,
  createdAt: endpoint.createdAt.toISOString(),
  updatedAt: endpoint.updatedAt.toISOString(),
  lastSuccessAt: timeOf(endpoint.lastSuccessAt),
  failingSince: timeOf(endpoint.failingSince),
  previousSecretExpiresAt: timeOf(endpoint.previousSecretExpiresAt),
  publicKeySignature: endpoint.publicKeySignature,
  includeExtracts: endpoint.includeExtracts,
  oldestWaitingAt: timeOf(endpoint.oldestWaitingAt),
  stats: { last24h: { ...endpoint.last24h } },
});

export const presentSigningKeys = (
  keys: readonly PublicSigningKey[],
  keySetUrl: string,
): Static<typeof SigningKeys> => ({
  keys: keys.map(({ id, publicKey, createdAt, expiresAt }) => ({
    id,
    publicKey,
    createdAt: createdAt.toISOString(),
    expiresAt: timeOf(expiresAt),
  })),
  keySetUrl,
});

export function presentStats(hours: readonly HourOfDeliveries[]): Static<typeof EndpointStats> {
  const total = { pending: 0, success: 0, failed: 0, exhausted: 0 };
  for (const { counts } of hours) for (const status of DELIVERY_STATUSES) total[status] += counts[status];
  return { hours: hours.map(({ from, counts }) => ({ from: from.toISOString(), ...counts })), total };
}

export const presentDelivery = (delivery: DeliveryWithPayload, settings: Settings): Static<typeof Delivery> => ({
  id: delivery.id,
  eventId: delivery.eventId,
  eventType: delivery.eventType,
  endpointId: delivery.endpointId,
  mailboxId: delivery.mailboxId,
  status: delivery.status,
  reason: delivery.reason,
  attemptCount: delivery.attemptCount,
  maxAttempts: delivery.maxAttempts,
  lastError: delivery.lastError,
  responseCode: delivery.responseCode,
  nextAttemptAt: timeOf(delivery.nextAttemptAt),
  createdAt: delivery.createdAt.toISOString(),
  completedAt: timeOf(delivery.completedAt),
  workflowId: delivery.workflowId,
  ...temporalLink(delivery.workflowId, settings),
  // The text was made from an object by `core/events/event-payload.ts`.
  payload: JSON.parse(delivery.payload) as Record<string, unknown>,
});

export const presentDeliveryWithAttempts = (
  delivery: DeliveryWithPayload,
  attempts: readonly AttemptView[],
  settings: Settings,
): Static<typeof DeliveryWithAttempts> => ({
  ...presentDelivery(delivery, settings),
  attempts: attempts.map((attempt) => ({
    number: attempt.number,
    trigger: attempt.trigger,
    startedAt: attempt.startedAt.toISOString(),
    durationMs: attempt.durationMs,
    responseCode: attempt.responseCode,
    error: attempt.error,
    responseHeaders: attempt.responseHeaders === null ? null : { ...attempt.responseHeaders },
    // The response of any server: bytes that are not UTF-8 are shown as U+FFFD.
    responseBody: attempt.responseBody?.toString('utf8') ?? null,
    remoteAddress: attempt.remoteAddress,
  })),
});

export const presentRecovery = (recovery: RecoveryRow, settings: Settings): Static<typeof Recovery> => {
  const { id, endpointId, status, state, stopReason, total, succeeded, failed } = recovery;
  const workflowId = recoveryWorkflowId(endpointId, id);
  return {
    id,
    endpointId,
    status,
    since: recovery.since.toISOString(),
    until: recovery.until.toISOString(),
    state,
    stopReason,
    // Deliveries that failed since it began may have joined.
    total: Math.max(total, succeeded + failed),
    done: succeeded + failed,
    succeeded,
    failed,
    createdAt: recovery.createdAt.toISOString(),
    updatedAt: recovery.updatedAt.toISOString(),
    finishedAt: timeOf(recovery.finishedAt),
    workflowId,
    ...temporalLink(workflowId, settings),
  };
};
