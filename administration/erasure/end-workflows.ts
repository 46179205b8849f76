/**
 * Workflows whose rows are erased: a signal makes each look, find nothing and end. They have ids only. One that is not
 * reached ends when its own timer does.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import { ANSWER_WITHIN_MS, inTime } from '#core/platform/engine/start-workflow.ts';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Database } from '#db/database.ts';
import { CANCEL_SIGNAL, DECIDE_SIGNAL, outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import { STOP_DELIVERIES_SIGNAL } from '#domain/webhooks/delivery-workflows.ts';

const AT_ONCE = 100;
const OUTBOUND = outboundWorkflowId('');

export interface EndedWorkflows {
  readonly signalled: number;
  /** Why the others were not; null: there are none. */
  readonly left: string | null;
}

/** Signals those of an erasure, and forgets them. Never throws because of the engine. */
export async function endWorkflows(db: Database, settings: Settings, erasureId: string): Promise<EndedWorkflows> {
  const next = () =>
    db.query<{ id: string }>(
      `select distinct unnest(workflows) as id from erasure where id = $1 order by id limit ${AT_ONCE}`,
      [erasureId],
    );
  const total = async (): Promise<number> => {
    const [row] = await db.query<{ n: number }>(`select workflows_signalled as n from erasure where id = $1`, [
      erasureId,
    ]);
    return row?.n ?? 0;
  };
  if ((await next()).length === 0) return { signalled: await total(), left: null };
  if (settings.TEMPORAL_ADDRESS === undefined)
    return { signalled: await total(), left: 'TEMPORAL_ADDRESS is not set here' };
  const temporal = connectTemporal(settings);
  try {
    for (;;) {
      const ids = (await next()).map(({ id }) => id);
      if (ids.length === 0) return { signalled: await total(), left: null };
      const results = await Promise.allSettled(ids.map((id) => signal(temporal, id)));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) return { signalled: await total(), left: reasonOf(failed.reason) };
      await db.query(
        `update erasure set workflows_signalled = workflows_signalled + $3,
                workflows = array(select unnest(workflows) except select unnest($2::text[])) where id = $1`,
        [erasureId, ids, ids.length],
      );
    }
  } finally {
    await temporal.close();
  }
}

async function signal(temporal: TemporalClient, workflowId: string): Promise<void> {
  const handle = temporal.client.workflow.getHandle(workflowId);
  try {
    if (!workflowId.startsWith(OUTBOUND))
      return await inTime(temporal, ANSWER_WITHIN_MS, () =>
        handle.signal(STOP_DELIVERIES_SIGNAL, { reason: 'mailbox_deleted' }),
      );
    // One ends the wait for a decision, a time or the end of a stop, the other that for an attempt.
    await inTime(temporal, ANSWER_WITHIN_MS, () => handle.signal(CANCEL_SIGNAL));
    await inTime(temporal, ANSWER_WITHIN_MS, () => handle.signal(DECIDE_SIGNAL));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
