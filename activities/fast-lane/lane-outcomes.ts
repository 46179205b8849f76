/** What the outcomes of a lane's attempts mean for their endpoints, written for several attempts together. */

import type { AttemptDependencies } from '#activities/make-attempt.ts';
import type { AttemptRecord } from '#db/queries/deliveries/attempts.ts';

export interface LaneOutcomes {
  /** Notes a recorded attempt. Never throws. */
  add(endpointId: string, record: AttemptRecord): void;
  /** Writes what has been noted. */
  close(): Promise<void>;
}

const GATHER_MS = 50;

export function laneOutcomes({
  notes,
  reviewFailing,
  log,
}: Pick<AttemptDependencies, 'notes' | 'reviewFailing' | 'log'>): LaneOutcomes {
  /** Last outcome of each endpoint: whether it acknowledged. */
  let acknowledged = new Map<string, boolean>();
  /** Endpoints of which deliveries were given up. */
  let exhausted = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const writing = new Set<Promise<void>>();

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const [outcomes, endpointIds] = [acknowledged, [...exhausted]];
    acknowledged = new Map();
    exhausted = new Set();
    try {
      await notes.write(outcomes);
      if (endpointIds.length > 0) await reviewFailing(endpointIds);
    } catch (error) {
      log.warn(
        { error: error instanceof Error ? error.message : String(error) },
        'outcomes of endpoints were not noted',
      );
    }
  }

  function writeSoon(): void {
    const run = write().finally(() => writing.delete(run));
    writing.add(run);
  }

  return {
    add(endpointId, { status, error }) {
      acknowledged.set(endpointId, error === null);
      if (status === 'exhausted') exhausted.add(endpointId);
      timer ??= setTimeout(writeSoon, GATHER_MS);
    },
    async close() {
      if (timer !== undefined) writeSoon();
      await Promise.all(writing);
    },
  };
}
