/**
 * Waits for the end of workflows. Each wait has its own abort signal, which ends with it: the client registers a
 * listener on the signal for every call, and never removes it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowFailedError, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { backoffMs } from '#core/platform/batching/circuit.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { isEngineFault } from './engine-starts.ts';
import { ENGINE, type TemporalClient } from './temporal-client.ts';

/** The outcome of a followed workflow. `lost`: it failed, or the engine no longer knows it. */
export type Followed = 'completed' | 'lost' | 'closed' | 'late';

export interface WorkflowFollower {
  /** Waits until the workflow has ended, through outages of the engine; `late`: not within the time. */
  follow(handle: WorkflowHandle, withinMs: number): Promise<Followed>;
  /** Stops following all workflows: pending calls return `closed`. */
  close(): void;
}

const PAUSE_MIN_MS = 200;
const PAUSE_MAX_MS = 5_000;

export function workflowFollower({ client }: TemporalClient, log: Logger): WorkflowFollower {
  const outage = outageLog(log, ENGINE);
  const following = new Set<AbortController>();
  let closed = false;

  async function untilEnded(handle: WorkflowHandle, ended: AbortSignal): Promise<Followed> {
    for (let failures = 1; !ended.aborted; failures++) {
      try {
        await client.withAbortSignal(ended, () => handle.result());
        if (failures > 1) outage.recovered();
        return 'completed';
      } catch (error) {
        if (ended.aborted) break;
        if (error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError) return 'lost';
        if (!isEngineFault(error)) throw error;
        outage.failed(error);
        await delay(backoffMs(failures, PAUSE_MIN_MS, PAUSE_MAX_MS), undefined, { signal: ended }).catch(() => {});
      }
    }
    return closed ? 'closed' : 'late';
  }

  return {
    async follow(handle, withinMs) {
      const end = new AbortController();
      if (closed) return 'closed';
      following.add(end);
      const late = Promise.withResolvers<'late'>();
      const timer = setTimeout(() => {
        end.abort();
        late.resolve('late');
      }, withinMs);
      const stopped = new Promise<'closed'>((resolve) =>
        end.signal.addEventListener('abort', () => resolve('closed'), { once: true }),
      );
      try {
        // The connection of a worker does not support abort signals: its call runs to its end.
        const first = await Promise.race([untilEnded(handle, end.signal), late.promise, stopped]);
        return first === 'closed' && !closed ? 'late' : first;
      } finally {
        clearTimeout(timer);
        following.delete(end);
      }
    },
    close() {
      closed = true;
      for (const end of following) end.abort();
    },
  };
}
