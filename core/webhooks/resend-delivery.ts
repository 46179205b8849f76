/**
 * Sends a delivery again because a person asked.
 *
 *   waits for a retry ───▶ its workflow is signalled to attempt now; if it does not exist ──▶ as for a final one
 *      └ not begun, because the fan-out still has other deliveries in flight: the row is made due for its beginning
 *   first attempt ahead ─▶ nothing to add: it is made at once anyway
 *   final ───────────────▶ a workflow of its own makes one attempt, marked `manual`
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isGrpcServiceError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { inTime } from '#core/platform/engine/start-workflow.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { retryDelaysMs } from '#core/platform/settings/settings.ts';
import { assignWorkflow, makeDueNow } from '#db/queries/deliveries/delivery-workflows.ts';
import { type DeliveryRecord, type DeliveryWithPayload, findDelivery } from '#db/queries/deliveries/list-deliveries.ts';
import type { OfEndpoint } from '#db/queries/webhooks/recoveries.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import {
  ATTEMPT_NOW_SIGNAL,
  type AttemptNow,
  endpointDeliveryId,
  isSlowEndpointDelivery,
} from '#domain/webhooks/delivery-workflows.ts';
import { type EndpointDeliveryStart, startEndpointDelivery } from './dispatcher/start-deliveries.ts';
import { requireSendableEndpoint } from './endpoints/endpoint-queries.ts';

const ENGINE_TIMEOUT_MS = 5_000;
const RETRY_AFTER_SECONDS = 5;
/** A fan-out that was about to start the delivery's workflow has done so within these checks. */
const HAND_OVER_LOOKS = 5;
const HAND_OVER_LOOK_MS = 100;

/**
 * @returns the delivery as it is then: the attempt itself is made a moment later
 * @throws {CatalogueError} not_found, plan_required, conflict (inactive endpoint), unavailable (engine unreachable)
 */
export async function resendDelivery(
  services: Services,
  temporal: TemporalClient,
  organization: { readonly id: string; readonly plan: PlanName },
  endpointId: string,
  deliveryId: string,
  caller: Caller,
): Promise<DeliveryWithPayload> {
  const { db } = services;
  await requireSendableEndpoint(db, organization, endpointId);
  const of = { organizationId: organization.id, endpointId };
  const delivery = await findDelivery(db, of, deliveryId);
  if (delivery === undefined) throw new CatalogueError('not_found');
  const resent = await attemptSoon(services, temporal, of, delivery);
  // After the call to the engine; repeating that call has no second effect, because its workflows have ids.
  await db.transaction((sql) =>
    recordAudit(sql, caller, {
      organizationId: organization.id,
      action: 'webhook.delivery_resent',
      targetId: deliveryId,
      details: { endpointId, status: delivery.status },
    }),
  );
  return resent;
}

async function attemptSoon(
  services: Services,
  temporal: TemporalClient,
  of: OfEndpoint,
  delivery: DeliveryWithPayload,
): Promise<DeliveryWithPayload> {
  const { db } = services;
  const { id: deliveryId, endpointId } = delivery;
  const waits = delivery.status === 'pending' || delivery.status === 'failed';
  if (waits && delivery.workflowId?.startsWith(endpointDeliveryId(endpointId, '')) !== true) {
    // The workflow that is about to carry it finds it due, and makes the attempt at once.
    if (delivery.status === 'failed') await makeDueNow(db, deliveryId, new Date(services.now()));
    services.deliveriesDue.wake();
    return delivery;
  }
  if (waits) {
    if (await attemptNow(services, temporal, delivery)) return delivery;
    // Its workflow may have ended because it has just made the attempt.
    const since = await findDelivery(db, of, deliveryId);
    if (since !== undefined && since.attemptCount > delivery.attemptCount) return since;
  }
  await startManualAttempt(services, temporal, delivery);
  return (await findDelivery(db, of, deliveryId)) ?? delivery;
}

/** @returns false if the workflow of the delivery no longer exists */
async function attemptNow(services: Services, temporal: TemporalClient, delivery: DeliveryRecord): Promise<boolean> {
  const workflowId = delivery.workflowId ?? '';
  const fanOutId = workflowId.slice(endpointDeliveryId(delivery.endpointId, '').length);
  for (let look = 0; look < HAND_OVER_LOOKS; look++) {
    if (await signalAttemptNow(temporal, workflowId, delivery.id)) return true;
    // About to start, as its deliveries gather for some seconds; if it is lost, the sweep starts it.
    if (delivery.status === 'pending' && isSlowEndpointDelivery(workflowId, delivery.endpointId)) return true;
    if (!(await isRunning(temporal, fanOutId))) return signalAttemptNow(temporal, workflowId, delivery.id);
    if (look === 0) await makeDueNow(services.db, delivery.id, new Date(services.now()));
    await delay(HAND_OVER_LOOK_MS);
  }
  return true;
}

/** @returns false when there is no such workflow, or it has ended */
async function signalAttemptNow(temporal: TemporalClient, workflowId: string, deliveryId: string): Promise<boolean> {
  const input: AttemptNow = { deliveryId };
  try {
    const handle = temporal.client.workflow.getHandle(workflowId);
    await reach(() => inTime(temporal, ENGINE_TIMEOUT_MS, () => handle.signal(ATTEMPT_NOW_SIGNAL, input)));
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

async function isRunning(temporal: TemporalClient, workflowId: string): Promise<boolean> {
  try {
    const handle = temporal.client.workflow.getHandle(workflowId);
    const { status } = await reach(() => inTime(temporal, ENGINE_TIMEOUT_MS, () => handle.describe()));
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Named after the attempt it will make, so that two requests at once make one. */
async function startManualAttempt(services: Services, temporal: TemporalClient, delivery: DeliveryRecord) {
  const { id, endpointId } = delivery;
  const workflowId = endpointDeliveryId(endpointId, `resend/${id}/${delivery.attemptCount + 1}`);
  await assignWorkflow(services.db, id, workflowId);
  const start: EndpointDeliveryStart = {
    workflowId,
    endpointId,
    deliveries: [{ ...delivery, dueAtMs: services.now() }],
    ladderMs: retryDelaysMs(services.settings),
    summary: `resend of ${id} to ${endpointId}`,
    manual: true,
  };
  await reach(() => startEndpointDelivery(temporal, start, ENGINE_TIMEOUT_MS));
}

/** @throws {CatalogueError} unavailable, if the engine is not reachable in the time that a client waits for the answer */
async function reach<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ServiceError || isGrpcServiceError(error))
      throw new CatalogueError('unavailable', 'The workflow engine is not reachable at the moment.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    throw error;
  }
}
