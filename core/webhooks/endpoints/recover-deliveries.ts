/**
 * Sends given-up deliveries of an endpoint again because a person asked: starts, pauses and ends the workflow
 * `recoverDeliveries`. The row has the requested state; the sweep, and the workflow's own checks, replace a lost start
 * or signal.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { EngineStarts } from '#core/platform/engine/engine-starts.ts';
import { ANSWER_WITHIN_MS, callAfterCommit, inTime, startOptions } from '#core/platform/engine/start-workflow.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { retryDelaysMs } from '#core/platform/settings/settings.ts';
import {
  changeRecovery,
  findRecovery,
  insertRecovery,
  type OfEndpoint,
  openRecoveries,
  openRecoveryOf,
  type RecoveryRow,
  takeOverdueRecoveries,
} from '#db/queries/webhooks/recoveries.ts';
import { CatalogueError } from '#domain/errors.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import { DELIVERY_RETENTION_DAYS } from '#domain/webhooks/delivery-limits.ts';
import type { StopTarget } from '#domain/webhooks/delivery-workflows.ts';
import {
  LOOK_AGAIN_SIGNAL,
  RECOVER_DELIVERIES,
  RECOVERY_OVERDUE_MS,
  type RecoverableStatus,
  type RecoveryInput,
  recoveryWorkflowId,
} from '#domain/webhooks/recovery.ts';
import { requireEndpoint, requireSendableEndpoint } from './endpoint-queries.ts';

const DAY_MS = 86_400_000;
const SWEEP_ROWS = 100;

interface NewRecoveryRange {
  /** The first moment of which deliveries are sent again, by their creation. */
  readonly since: Date;
  /** The first moment after them. Default, and at most: now. */
  readonly until?: Date;
  /** Default: `exhausted`. */
  readonly status?: RecoverableStatus;
}

/**
 * Starts a recovery.
 *
 * @throws {CatalogueError} not_found, plan_required, conflict (inactive endpoint, another recovery is running),
 *   invalid_request (an empty range)
 */
export async function startRecovery(
  services: Services,
  temporal: TemporalClient,
  organization: { readonly id: string; readonly plan: PlanName },
  endpointId: string,
  caller: Caller,
  range: NewRecoveryRange,
): Promise<RecoveryRow> {
  const { mailboxId } = await requireSendableEndpoint(services.db, organization, endpointId);
  const nowMs = services.now();
  const sinceMs = Math.max(range.since.getTime(), nowMs - (DELIVERY_RETENTION_DAYS + 1) * DAY_MS);
  const untilMs = Math.min(range.until?.getTime() ?? nowMs, nowMs);
  if (range.since.getTime() >= untilMs)
    throw new CatalogueError('invalid_request', 'The time range is empty.', {
      details: [{ path: '/since', message: 'must be before until, and in the past' }],
    });
  const status = range.status ?? 'exhausted';
  const since = new Date(sinceMs);
  const until = new Date(untilMs);
  const row = await services.db.transaction(async (sql) => {
    const inserted = await insertRecovery(sql, {
      id: newId('recovery', nowMs),
      organizationId: organization.id,
      endpointId,
      mailboxId,
      status,
      since,
      until,
      afterId: firstIdAt('delivery', sinceMs),
      beforeId: firstIdAt('delivery', untilMs),
    });
    if (inserted === undefined) return undefined;
    await recordAudit(sql, caller, {
      organizationId: organization.id,
      action: 'webhook.deliveries_recovered',
      targetId: endpointId,
      details: { recoveryId: inserted.id, status, since, until, total: inserted.total },
    });
    return inserted;
  });
  if (row === undefined) throw await alreadyRecovering(services, endpointId);
  await callEngine(services, temporal, row, () => startWorkflow(services, temporal, row));
  return row;
}

async function alreadyRecovering({ db }: Services, endpointId: string): Promise<CatalogueError> {
  const open = await openRecoveryOf(db, endpointId);
  return new CatalogueError(
    'conflict',
    `Deliveries of this endpoint are being recovered already${open === undefined ? '' : `: ${open.id}`}.`,
    { fix: 'Wait until that recovery has ended, or cancel it: POST /api/webhooks/:id/recoveries/:rid/cancel.' },
  );
}

/** @throws {CatalogueError} not_found */
export async function getRecovery(services: Services, of: OfEndpoint, recoveryId: string): Promise<RecoveryRow> {
  await requireEndpoint(services.db, of.organizationId, of.endpointId);
  const row = await findRecovery(services.db, of, recoveryId);
  if (row === undefined) throw new CatalogueError('not_found');
  return row;
}

const ACTIONS = {
  cancelled: 'webhook.recovery_cancelled',
  paused: 'webhook.recovery_paused',
  running: 'webhook.recovery_resumed',
} as const;

/**
 * Cancels, pauses or resumes a recovery. Attempts in flight finish. A recovery that is already in this state does not
 * change.
 *
 * @throws {CatalogueError} not_found; conflict when it has ended otherwise
 */
export async function moveRecovery(
  services: Services,
  temporal: TemporalClient,
  of: OfEndpoint,
  recoveryId: string,
  caller: Caller,
  state: keyof typeof ACTIONS,
): Promise<RecoveryRow> {
  const before = await getRecovery(services, of, recoveryId);
  if (before.state === state) return before;
  const row = await services.db.transaction(async (sql) => {
    const changed = await changeRecovery(sql, recoveryId, state);
    if (changed !== undefined)
      await recordAudit(sql, caller, {
        organizationId: of.organizationId,
        action: ACTIONS[state],
        targetId: of.endpointId,
        details: { recoveryId, done: changed.succeeded + changed.failed, total: changed.total },
      });
    return changed;
  });
  if (row === undefined)
    throw new CatalogueError(
      'conflict',
      `The recovery has ended: ${(await getRecovery(services, of, recoveryId)).state}.`,
      { fix: 'Start another one for the rest: POST /api/webhooks/:id/recover.' },
    );
  await callEngine(services, temporal, row, () =>
    state === 'running' ? startWorkflow(services, temporal, row) : signalLookAgain(temporal, row),
  );
  return row;
}

/** Makes recoveries check their endpoints again. Call it after the commit; running ones check anyway. */
export async function wakeRecoveries(services: Services, temporal: TemporalClient, target: StopTarget): Promise<void> {
  for (const recovery of await openRecoveries(services.db, target)) await signalLookAgain(temporal, recovery);
}

/** Starts recoveries again that the engine forgot; of several replicas one starts each. @returns how many */
export async function sweepRecoveries(
  services: Services,
  temporal: TemporalClient,
  starts: EngineStarts,
): Promise<number> {
  const overdue = await takeOverdueRecoveries(services.db, RECOVERY_OVERDUE_MS, SWEEP_ROWS);
  for (const row of overdue)
    await starts.run(() => inTime(temporal, ANSWER_WITHIN_MS, () => startWorkflow(services, temporal, row)));
  return overdue.length;
}

/** Wakes the workflow, which is started when there is none. */
async function startWorkflow(services: Services, temporal: TemporalClient, row: RecoveryRow): Promise<void> {
  const { organizationId, endpointId, mailboxId } = row;
  const summary = `recover ${row.total} ${row.status} deliveries of ${endpointId}`;
  const input: RecoveryInput = { recoveryId: row.id, ladderMs: retryDelaysMs(services.settings) };
  await temporal.client.workflow.signalWithStart(RECOVER_DELIVERIES, {
    ...startOptions(temporal, recoveryWorkflowId(endpointId, row.id), summary, {
      organizationId,
      endpointId,
      mailboxId,
    }),
    args: [input],
    signal: LOOK_AGAIN_SIGNAL,
  });
}

async function signalLookAgain(
  temporal: TemporalClient,
  { id, endpointId }: { readonly id: string; readonly endpointId: string },
): Promise<void> {
  try {
    await temporal.client.workflow.getHandle(recoveryWorkflowId(endpointId, id)).signal(LOOK_AGAIN_SIGNAL);
  } catch (error) {
    // It has ended or was never started: nothing waits, and the row has the requested state.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

const callEngine = (services: Services, temporal: TemporalClient, { id }: RecoveryRow, call: () => Promise<void>) =>
  callAfterCommit(
    services,
    temporal,
    call,
    { recoveryId: id },
    'a recovery was not started or signalled; the sweep will do it',
  );
