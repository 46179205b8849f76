import type { Static } from 'typebox';
import type { EndpointView } from '../../core/endpoint-queries.ts';
import type { Settings } from '../../core/settings.ts';
import type { AttemptView, DeliveryWithPayload } from '../../db/queries/list-deliveries.ts';
import type { RecoveryRow } from '../../db/queries/recoveries.ts';
import { recoveryWorkflowId } from '../../domain/recovery.ts';
import type { Delivery, DeliveryWithAttempts, Endpoint, Recovery } from './schema.ts';

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
  stats: { last24h: { ...endpoint.last24h } },
});

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
  ...linkTo(delivery.workflowId, settings),
  // The text was made from an object by `core/event-payload.ts`.
  payload: JSON.parse(delivery.payload) as Record<string, unknown>,
});

function linkTo(workflowId: string | null, settings: Settings): { temporalUrl?: string } {
  const { TEMPORAL_UI_URL, TEMPORAL_NAMESPACE } = settings;
  if (workflowId === null || TEMPORAL_UI_URL === undefined) return {};
  const path = `namespaces/${encodeURIComponent(TEMPORAL_NAMESPACE)}/workflows/${encodeURIComponent(workflowId)}`;
  return { temporalUrl: `${TEMPORAL_UI_URL.replace(/\/+$/, '')}/${path}` };
}

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
    // Whatever a server answered: bytes that are no UTF-8 are shown as U+FFFD.
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
    ...linkTo(workflowId, settings),
  };
};
