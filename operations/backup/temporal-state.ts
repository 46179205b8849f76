/** What Temporal knows when the rows of an older state are back: nothing, or workflows that are newer than the rows. */
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Settings } from '#core/platform/settings/settings.ts';

const ANSWER_WITHIN_MS = 5_000;

export type TemporalState =
  | { readonly kind: 'not_set' }
  | { readonly kind: 'unreachable'; readonly reason: string }
  | { readonly kind: 'reached'; readonly address: string; readonly namespace: string; readonly running: number };

/** Never throws. */
export async function temporalState(settings: Settings): Promise<TemporalState> {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_TASK_QUEUE } = settings;
  if (address === undefined) return { kind: 'not_set' };
  const { client, close } = connectTemporal(settings);
  try {
    const { count } = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      client.workflow.count(
        `ExecutionStatus = 'Running' and TaskQueue = '${TEMPORAL_TASK_QUEUE.replaceAll("'", "''")}'`,
      ),
    );
    return { kind: 'reached', address, namespace, running: count };
  } catch (error) {
    return { kind: 'unreachable', reason: reasonOf(error) };
  } finally {
    await close();
  }
}

/** Rows decide: workflows that they lack are started by the sweeps, those that they do not need end when they look. */
export function describeTemporal(state: TemporalState): string {
  if (state.kind === 'not_set')
    return 'TEMPORAL_ADDRESS is not set here. The processes start every workflow that the rows need.';
  if (state.kind === 'unreachable')
    return `Temporal does not answer (${state.reason}). The processes start every workflow that the rows need once it does.`;
  const { address, namespace, running } = state;
  return running === 0
    ? `Temporal at ${address}, namespace ${namespace}, runs no workflow of this installation. The processes start every one that the rows need.`
    : `Temporal at ${address}, namespace ${namespace}, still runs ${running} workflows. They continue on the restored rows: what these do not know any more ends, and what they need is started.`;
}
