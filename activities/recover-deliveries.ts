/**
 * The activity of a recovery: some seconds of sending deliveries again.
 *
 *   read the row ─▶ ended, paused, must stop: return it
 *        ▲   │
 *        │   ▼
 *        │  next few deliveries ─▶ none left: completed
 *        │   │
 *        │   ▼
 *        └─ one attempt each, marked `manual` ─▶ counted in the row ─▶ wait for the rate
 *
 * It uses at most half of the endpoint's slots and none that a live delivery waits for, so live deliveries have
 * priority.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '#db/database.ts';
import {
  advanceRecovery,
  changeRecovery,
  type RecoveryRow,
  type RecoveryStanding,
  recoveryStanding,
  recoveryWindow,
  touchRecovery,
} from '#db/queries/webhooks/recoveries.ts';
import type { StopReason } from '#domain/webhooks/delivery-workflows.ts';
import {
  RECOVERY_CONCURRENCY,
  type RecoveryInput,
  type RecoveryProgress,
  recoveryPerSecond,
} from '#domain/webhooks/recovery.ts';
import { type AttemptContext, attemptDeliveries, ShuttingDown } from './attempt-deliveries.ts';
import type { AttemptDependencies } from './make-attempt.ts';

/** How often it reports its progress to the engine. */
const RUN_MS = 30_000;
/** While the slots of the endpoint are in use. */
const BUSY_MS = 500;

const GONE: RecoveryProgress = { state: 'cancelled', stopReason: null, total: 0, done: 0, succeeded: 0, failed: 0 };

const progressOf = ({ state, stopReason, total, succeeded, failed }: RecoveryRow): RecoveryProgress => ({
  state,
  stopReason,
  // Deliveries that failed since it began may have joined.
  total: Math.max(total, succeeded + failed),
  done: succeeded + failed,
  succeeded,
  failed,
});

export async function recoverSome(
  deps: AttemptDependencies,
  { recoveryId, ladderMs }: RecoveryInput,
  context: AttemptContext,
): Promise<RecoveryProgress> {
  const beat = setInterval(context.heartbeat, context.heartbeatEveryMs);
  try {
    const endAtMs = performance.now() + RUN_MS;
    for (;;) {
      const standing = await recoveryStanding(deps.db, recoveryId);
      if (standing === undefined) return GONE;
      const ended = await endIfDue(deps, standing);
      if (ended !== undefined) return progressOf(ended);
      if (standing.state === 'paused' || performance.now() >= endAtMs) return progressOf(standing);
      if (context.givenUp.aborted) throw new Error('this run was given up; another one goes on');
      if (deps.draining.aborted) throw new ShuttingDown();
      if (!(await recoverWindow(deps, standing, ladderMs, context)))
        return progressOf((await endAs(deps.db, recoveryId, 'completed', null)) ?? standing);
    }
  } finally {
    clearInterval(beat);
  }
}

/** @returns the row when it has ended, or must end now */
async function endIfDue({ db }: AttemptDependencies, standing: RecoveryStanding): Promise<RecoveryRow | undefined> {
  if (standing.finishedAt !== null) return standing;
  if (standing.mustStop === null) return undefined;
  return endAs(db, standing.id, 'stopped', standing.mustStop);
}

/** If it was ended meanwhile, that state stays. */
const endAs = async (
  sql: Sql,
  id: string,
  state: 'completed' | 'stopped',
  reason: StopReason | null,
): Promise<RecoveryRow | undefined> =>
  (await changeRecovery(sql, id, state, reason)) ?? (await recoveryStanding(sql, id));

/** @returns false when nothing was left */
async function recoverWindow(
  deps: AttemptDependencies,
  standing: RecoveryStanding,
  ladderMs: readonly number[],
  context: AttemptContext,
): Promise<boolean> {
  const { db } = deps;
  const startedAtMs = performance.now();
  // A reservation blocks a delivery that waits for its retry, so none is made without a free slot.
  const room = deps.slots.roomForRecovery(standing.endpointId);
  const window = await recoveryWindow(db, standing, Math.max(1, room));
  if (window.length === 0) return false;
  if (room === 0) {
    await touchRecovery(db, standing.id);
    await sleep(BUSY_MS, undefined, { signal: deps.draining }).catch(() => {});
    return true;
  }
  const deliveryIds = window.filter(({ sentAgain }) => !sentAgain).map(({ id }) => id);
  if (deliveryIds.length > 0) await attemptDeliveries(deps, { deliveryIds, ladderMs, lane: 'recovery' }, context);
  // Deliveries that found no slot are processed again: they were not sent since.
  const left = new Set(
    (await recoveryWindow(db, standing, RECOVERY_CONCURRENCY)).flatMap(({ id, sentAgain }) => (sentAgain ? [] : [id])),
  );
  const through = window.map(({ id }) => id);
  const firstLeft = through.findIndex((id) => left.has(id));
  const done = firstLeft < 0 ? through : through.slice(0, firstLeft);
  await advanceRecovery(db, standing.id, done);
  if (done.length === 0) await touchRecovery(db, standing.id);
  const dueMs = (done.length / recoveryPerSecond(standing.plan, standing.running)) * 1_000;
  const waitMs = Math.max(done.length === 0 ? BUSY_MS : 0, startedAtMs + dueMs - performance.now());
  if (waitMs > 0) await sleep(waitMs, undefined, { signal: deps.draining }).catch(() => {});
  return true;
}
